"""Agents that work by commands: what they read, edited, ran and checked, and what of it separates outcomes."""
