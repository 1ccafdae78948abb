"""From alignments to the earliest critical divergence: effects, deviations, ledger, provenance, evidence."""
