"""Verdicts of reviewers: read back from a workbook, kept beside the traces, joined to later reports."""
