"""Tests a place to look: the same runs with one step held fixed, with an unrelated one, and with none.

``pin_step`` and ``pin_divergence`` make a pin from recorded trials, ``intervene`` runs the arms, ``evaluate``
compares them, and ``outcome`` keeps what came out.
"""

from __future__ import annotations

#: Where outcomes are kept and looked for, in the folder where a command is run.
STORE = "trajdiff.interventions.jsonl"
