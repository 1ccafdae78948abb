"""Where the points of the pass^k curve lie in its drawing; the template draws them with their figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.render.card_words import adaptive_text

if TYPE_CHECKING:
    from trajdiff.report import Report

WIDTH, HEIGHT = 460, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 16, 14, 34
#: More points than this stand too close to be told apart.
_MOST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One k: pass^k and pass@k with their heights, and the ends of the interval where there is one."""

    k: int
    x: float
    value: float
    y: float
    at: float
    at_y: float
    low: float | None = None
    high: float | None = None
    low_y: float = 0.0
    high_y: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The curve ready to be drawn: points, lines as SVG point lists, lines of the scale as (label, y)."""

    points: tuple[Point, ...]
    line: str
    ceiling: str
    band: str
    scale: tuple[tuple[str, float], ...]
    sentence: str
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def drawing(report: Report) -> Drawing | None:
    """The drawing, None where there is no curve."""
    suite = report.suite
    if not suite.pass_hat_k or adaptive_text(report):
        return None
    shown = _shown(len(suite.pass_hat_k))
    points = tuple(_point(report, k, place, len(shown)) for place, k in enumerate(shown))
    ends = [point for point in points if point.low is not None]
    band = [(p.x, p.high_y) for p in ends] + [(p.x, p.low_y) for p in reversed(ends)]
    return Drawing(
        points=points,
        line=_list([(point.x, point.y) for point in points]),
        ceiling=_list([(point.x, point.at_y) for point in points]),
        band=_list(band) if len(ends) > 1 else "",
        scale=tuple((f"{value:.2f}", _height(value)) for value in (0.0, 0.25, 0.5, 0.75, 1.0)),
        sentence=_sentence(points),
    )


def _shown(largest: int) -> list[int]:
    """All k, or about as many as fit, the first and the last among them."""
    if largest <= _MOST:
        return list(range(1, largest + 1))
    return sorted({round(1 + at * (largest - 1) / (_MOST - 1)) for at in range(_MOST)})


def _point(report: Report, k: int, place: int, count: int) -> Point:
    suite = report.suite
    room = WIDTH - _LEFT - _RIGHT - 48
    x = _LEFT + 24 + (room * place / (count - 1) if count > 1 else room / 2)
    value, ceiling = suite.pass_hat_k[k - 1], suite.pass_at_k[k - 1]
    interval = report.card.figures.interval(k) if report.card is not None else None
    return Point(
        k=k,
        x=round(x, 1),
        value=value,
        y=_height(value),
        at=ceiling,
        at_y=_height(ceiling),
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        low_y=0.0 if interval is None else _height(interval.low),
        high_y=0.0 if interval is None else _height(interval.high),
    )


def _height(value: float) -> float:
    return round(_TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - value), 1)


def _list(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _sentence(points: tuple[Point, ...]) -> str:
    """The curve in words, for those who cannot see it."""
    parts = []
    for point in points:
        ends = "" if point.low is None else f" (95 % {point.low:.2f} to {point.high:.2f})"
        parts.append(f"pass^{point.k} {point.value:.2f}{ends}")
    return ", ".join(parts)
