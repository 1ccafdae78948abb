"""Reliability figures: exact estimators per task and over tasks."""
