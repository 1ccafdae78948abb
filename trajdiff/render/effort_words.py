"""What a run took, in words: cost per delivery, people's minutes, time and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajdiff.natural import plural
from trajdiff.reliability.cost import NO_DELIVERY, Cost, Latency

if TYPE_CHECKING:
    from trajdiff.reliability.card import Card


def effort_lines(card: Card) -> list[str]:
    """Cost per accepted delivery, people's minutes, latency and tokens; nothing where nothing is recorded."""
    effort, parts = card.effort, []
    if effort.cost.total is not None:
        parts.append(f"cost {cost_text(effort.cost)}{_cost_ends(effort.cost_interval)}")
    cover = effort.coverage
    if cover.human_minutes is not None:
        each = cover.minutes_per_unassisted
        parts.append(f"human {cover.human_minutes:g} min" + (f", {each:.1f} per unassisted" if each else ""))
    if effort.latency is not None:
        parts.append(f"time {latency_text(effort.latency)}")
    if effort.tokens is not None:
        without = effort.trials - effort.trials_with_tokens
        note = f" ({plural(without, 'trial')} without)" if without else ""
        parts.append(f"{effort.tokens:,} tokens{note}")
    return ["; ".join(parts)] if parts else []


def cost_text(cost: Cost) -> str:
    """``12.40 USD for all trials, 0.15 per accepted (84)``."""
    if cost.total is None:
        return "not recorded"
    label = f", {cost.label}" if cost.label else ""
    if cost.per_accepted is None:
        return f"{NO_DELIVERY} (spent {money(cost.total)} USD{label})"
    each = f"{money(cost.per_accepted)} per accepted ({cost.accepted})"
    return f"{money(cost.total)} USD for all trials, {each}{label}"


def _cost_ends(found: tuple[float, float | None, float] | None) -> str:
    """The interval of cost per accepted delivery; no upper end where a draw of tasks may hold no delivery."""
    if found is None:
        return ""
    low, high, without = found
    if high is None:
        return f" (95 % from {money(low)} on; a share {without:.2g} of the resamples holds no delivery)"
    return f" (95 % {money(low)} to {money(high)}, tasks resampled)"


def money(amount: float) -> str:
    """Two decimals; two significant digits where that would leave nothing."""
    return f"{amount:.2f}" if amount >= 0.1 or not amount else f"{amount:.2g}"


def latency_text(latency: Latency) -> str:
    """``P50 31 s, P95 118 s``."""
    least = ">= " if latency.at_limit else ""
    limit = " (time limit)" if latency.at_limit else ""
    most = f", most {latency.maximum:.3g} s" if latency.maximum is not None else ""
    without = f", {plural(latency.without, 'trial')} without" if latency.without else ""
    return f"P50 {latency.p50:.3g} s, P95 {least}{latency.p95:.3g} s{limit}{most}{without}"
