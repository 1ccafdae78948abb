"""Alignment of trials: canonical values, similarity, pairwise alignment, the graph of successes."""
