"""The figures of an intervention against independent computations: counts by hand, scipy, enumeration."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any

import pytest

from trajdiff.errors import InputError
from trajdiff.intervention.evaluation import arm_result, by_arm, effect_of, evaluate
from trajdiff.intervention.outcome import Conclusion
from trajdiff.intervention.paired_interval import independent_interval, paired_interval
from trajdiff.model import (
    Judgement,
    Provenance,
    SourceRef,
    Termination,
    TerminationReason,
    Trial,
    Verdict,
)

PASS, FAIL, INFRA, UNSCORED = Verdict.PASS, Verdict.FAIL, Verdict.INFRA, Verdict.UNSCORED


def trial(arm: str | None, number: int, verdict: Verdict, seed: int | None = None, **metadata: Any) -> Trial:
    reason = metadata.pop("reason", TerminationReason.AGENT_DONE)
    return Trial(
        task_id="t",
        trial_id=f"{arm}-{number}",
        ordinal=number,
        steps=(),
        judgement=Judgement(state=verdict),
        source=SourceRef(path="x", pointer="$"),
        termination=Termination(reason=reason),
        provenance=Provenance(seed=seed),
        metadata={**({} if arm is None else {"arm": arm}), **metadata},
    )


def arm(name: str, verdicts: str, *, seeds: bool = True, **metadata: Any) -> list[Trial]:
    """Trials from letters: p, f, i, u."""
    states = {"p": PASS, "f": FAIL, "i": INFRA, "u": UNSCORED}
    return [trial(name, n, states[v], n if seeds else None, **metadata) for n, v in enumerate(verdicts)]


@pytest.mark.parametrize(
    ("control", "pinned"),
    [
        ("ffffffff", "pppppppp"),
        ("ffffpppp", "ppppffpp"),
        ("fpfpfpfp", "fpfpfpfp"),
        ("ffffffffff", "ffpppppppp"),
    ],
)
def test_the_exact_test_over_pairs_is_mcnemars(control: str, pinned: str) -> None:
    from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]

    effect = effect_of("pinned", arm("control", control), arm("pinned", pinned))
    assert effect is not None
    table = [[0, 0], [0, 0]]
    for a, b in zip(control, pinned, strict=True):
        table[a == "p"][b == "p"] += 1
    assert effect.p == pytest.approx(float(mcnemar(table, exact=True).pvalue))
    assert (effect.only_control, effect.only_arm) == (table[0][1], table[1][0])
    assert effect.difference == pytest.approx((table[0][1] - table[1][0]) / len(control))


def test_pairs_are_found_by_seed_and_not_by_place() -> None:
    control = arm("control", "fpfp")
    pinned = list(reversed(arm("pinned", "ppff")))
    effect = effect_of("pinned", control, pinned)
    assert effect is not None
    assert (effect.pairs, effect.only_control, effect.only_arm) == (4, 1, 1)
    fewer = effect_of("pinned", control, pinned[:2])
    assert fewer is not None
    assert fewer.pairs == 2


def test_without_seeds_the_arms_are_not_paired() -> None:
    from scipy.stats import fisher_exact  # type: ignore[import-untyped]

    for a, b in (("fffffpp", "ppppppf"), ("ff", "pp"), ("fp", "fp"), ("f", "pppppppp")):
        effect = effect_of("pinned", arm("control", a, seeds=False), arm("pinned", b, seeds=False))
        assert effect is not None
        table = [[a.count("f"), a.count("p")], [b.count("f"), b.count("p")]]
        assert effect.p == pytest.approx(float(fisher_exact(table)[1]))
        assert effect.pairs == 0
    twice = [*arm("control", "f"), *arm("control", "p")]
    effect = effect_of("pinned", twice, arm("pinned", "pp"))
    assert effect is not None
    assert effect.pairs == 0, "a seed that occurs twice in an arm pairs nothing"


def test_published_values_of_the_interval_for_independent_rates() -> None:
    """Newcombe 1998 (873-890), table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/10."""
    for counts, expected in (
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
    ):
        assert independent_interval(*counts) == pytest.approx(expected, abs=0.0005)


def test_the_paired_interval_without_correlation_is_that_of_independent_rates() -> None:
    """With a margin of 0 the correlation is not defined and counts as none."""
    assert paired_interval(0, 7, 0, 5) == pytest.approx(independent_interval(7, 12, 0, 12))
    assert paired_interval(0, 0, 0, 9) == pytest.approx(independent_interval(0, 9, 0, 9))


def test_the_paired_interval_turns_with_its_arms() -> None:
    for cells in product(range(4), repeat=4):
        if sum(cells):
            both, a, b, neither = cells
            low, high = paired_interval(both, a, b, neither)
            assert paired_interval(both, b, a, neither) == pytest.approx((-high, -low))
            assert -1 <= low <= (a - b) / sum(cells) <= high <= 1


@pytest.mark.parametrize(
    "cells", [(0.3, 0.3, 0.1, 0.3), (0.1, 0.5, 0.0, 0.4), (0.25, 0.25, 0.25, 0.25), (0.6, 0.3, 0.05, 0.05)]
)
def test_the_paired_interval_covers_the_true_difference(cells: tuple[float, float, float, float]) -> None:
    """By enumeration of all tables of 12 pairs; nominal is 95 %."""
    n, covered = 12, 0.0
    true = cells[1] - cells[2]
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                d = n - a - b - c
                weight = comb(n, a) * comb(n - a, b) * comb(n - a - b, c)
                chance = weight * cells[0] ** a * cells[1] ** b * cells[2] ** c * cells[3] ** d
                low, high = paired_interval(a, b, c, d)
                covered += chance * (low <= true <= high)
    assert 0.93 <= covered <= 0.995


def test_counts_of_an_arm() -> None:
    taken = {"kind": "call", "fired": False, "reason": "the agent took the step itself"}
    absent = {"kind": "call", "fired": False, "reason": "no tool x to call"}
    trials = [
        *arm("pinned", "pfiu", pins=[{"kind": "result", "fired": True}]),
        trial("pinned", 8, UNSCORED, 8, reason=TerminationReason.MAX_STEPS),
        trial("pinned", 9, PASS, 9, pins=[taken]),
        trial("pinned", 10, PASS, 10, pins=[absent]),
    ]
    found = arm_result("pinned", trials)
    assert (found.trials, found.failures, found.left_out) == (5, 2, 2)
    assert (found.fired, found.needless, found.blocked) == (4, 1, 1)
    assert arm_result("control", arm("control", "pf")).fired is None
    counted = arm_result("pinned", [trial("pinned", 0, PASS, pins=2), trial("pinned", 1, PASS, pins=0)])
    assert counted.fired == 1, "arms of other harnesses may just count"


@pytest.mark.parametrize(
    ("control", "pinned", "placebo", "expected"),
    [
        ("ffffffff", "pppppppp", "ffffffff", Conclusion.FEWER),
        ("ffffffff", "pppppppp", "pppppppp", Conclusion.FEWER_WITH_PLACEBO),
        ("ffffpppp", "pppppppp", "ffffpppp", Conclusion.NOT_SHOWN),
        ("pppppppp", "ffffffff", "pppppppp", Conclusion.MORE),
        ("pppppppp", "pppppppp", "pppppppp", Conclusion.NO_FAILURES),
        ("iiiiiiii", "pppppppp", "pppppppp", Conclusion.NOTHING_COUNTED),
        ("ffffffff", "iiiiiiii", "pppppppp", Conclusion.NOTHING_COUNTED),
    ],
)
def test_what_follows(control: str, pinned: str, placebo: str, expected: Conclusion) -> None:
    fired = [{"kind": "result", "fired": True}]
    arms = {
        "control": arm("control", control),
        "pinned": arm("pinned", pinned, pins=fired),
        "placebo": arm("placebo", placebo, pins=fired),
    }
    assert evaluate(arms, label="x", text="x").conclusion is expected


def test_arms_must_be_named() -> None:
    with pytest.raises(InputError, match="names no arm"):
        by_arm([trial(None, 0, PASS)])
    with pytest.raises(InputError, match='unknown arm "other"'):
        by_arm([trial("other", 0, PASS)])
    with pytest.raises(InputError, match="no trial of the arm pinned"):
        by_arm(arm("control", "pf"))
    assert sorted(by_arm([*arm("Control ", "p"), *arm("PINNED", "f")])) == ["control", "pinned"]
