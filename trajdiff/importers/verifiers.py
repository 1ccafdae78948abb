"""Results of verifiers, one rollout a line, read by a mapping that comes with the package (formats.md 7.18)."""

from __future__ import annotations

from trajdiff.importers.shipped_importer import ShippedImporter

IMPORTER = ShippedImporter(
    name="verifiers",
    title="verifiers results",
    recognised_by="lines with prompt, completion and reward",
)
