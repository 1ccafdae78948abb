"""The exact two-sided sign-flip test of paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

#: Above so many bits the exact distribution would take minutes; then signs are drawn.
_EXACT_BITS = 50_000_000
RESAMPLES = 9_999
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """Share of sign patterns whose sum is at least as far from 0 as the observed one.

    ``differing`` counts the differences that are not 0, ``attainable`` is the smallest p they allow, and
    ``exact`` is False where signs were drawn at random (with ``seed``).
    """

    p: Fraction
    differing: int
    attainable: Fraction
    exact: bool = True
    seed: int | None = None


def sign_flip(differences: Sequence[Fraction], *, seed: int = SEED) -> SignFlip:
    """The test of "no difference", with zeros dropped. All zeros give p = 1."""
    used = [d for d in differences if d]
    attainable = min(Fraction(2, 2 ** len(used)), Fraction(1))
    if not used:
        return SignFlip(p=Fraction(1), differing=0, attainable=Fraction(1))
    common = math.lcm(*(d.denominator for d in used))
    whole = [int(d * common) for d in used]
    divisor = math.gcd(*whole)
    whole = [value // divisor for value in whole]
    reach = sum(map(abs, whole))
    if reach * (len(whole) + 1) > _EXACT_BITS:
        return _drawn(whole, attainable, seed)
    return SignFlip(p=_exact(whole, reach), differing=len(used), attainable=attainable)


def _exact(whole: Sequence[int], reach: int) -> Fraction:
    """The distribution of the sum as the digits of one large integer: a shift and an addition per task.

    Digit t counts the patterns in which the positive terms add up to t; the sum is then 2t - reach. Digits
    have one bit more than there are tasks, so that none can overflow.
    """
    width = len(whole) + 1
    digits = 1
    for value in whole:
        digits += digits << (abs(value) * width)
    observed = abs(sum(whole))
    if observed == 0:
        return Fraction(1)
    last = (reach - observed) // 2
    tail = digits & ((1 << ((last + 1) * width)) - 1)
    # Modulo base - 1, a number is the sum of its digits.
    return Fraction(2 * (tail % ((1 << width) - 1)), 2 ** len(whole))


def _drawn(whole: Sequence[int], attainable: Fraction, seed: int) -> SignFlip:
    import numpy as np

    sizes = np.sort(np.abs(np.array(whole, dtype=float)))
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(RESAMPLES, len(sizes)))
    far = int(np.count_nonzero(np.abs(signs @ sizes) >= abs(sum(whole)) * (1 - 1e-12)))
    return SignFlip(
        p=Fraction(far + 1, RESAMPLES + 1),
        differing=len(whole),
        attainable=attainable,
        exact=False,
        seed=seed,
    )
