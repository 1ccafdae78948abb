"""A small shop with an agent that fails in known ways, to try running trials and interventions on.

No model is behind it: the agent follows a script with seeded choices, and each of its faults can be switched
off. ``trajdiff demo --live`` runs it; everything here is made up.
"""
