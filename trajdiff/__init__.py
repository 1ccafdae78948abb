"""trajdiff: where failing trials of an agent task left the ways of succeeding, beside pass^k."""

__version__ = "0.1.0"
