"""Tests of trajdiff; ``python -m tests`` runs all checks of the project."""
