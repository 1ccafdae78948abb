"""The plan files of the demo."""

from __future__ import annotations

_PLAN = """\
# {about}
name = "{name}"
out = "runs/{name}"
tasks = ["move-delivery", "refund-lamp", "pay-invoice", "replace-mug", "close-ticket", "ask-delivery"]
trials = 8
seed = {seed}
jobs = 2
time_limit = 60
step_limit = 40

reset = "{{python}} -m trajdiff.demo.desk reset"      # a fresh database in the work folder of the trial
agent = "{{python}} -m trajdiff.demo.agent{without}"
grade = "{{python}} -m trajdiff.demo.desk grade"      # looks at the database, not at the agent's words
state = ["shop.sqlite"]                             # must be the same before every trial
"""

#: Files by name, with seeds at which each fault strikes in about half of the trials: the agent as it is, and
#: with one fault repaired.
PLANS = {
    "plan.toml": _PLAN.format(about="The shop with all its faults.", name="first", seed=348, without=""),
    "fixed.toml": _PLAN.format(
        about="The same with the date tool repaired.", name="fixed", seed=349, without=" --without date"
    ),
}
