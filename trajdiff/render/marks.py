"""Every mark trajdiff prints, its ASCII twin and the word for it."""

from __future__ import annotations

from msgspec import Struct

from trajdiff.align.table import Op
from trajdiff.model import Verdict


class Marks(Struct, frozen=True, kw_only=True):
    """One set of glyphs. Marks of trials, steps and rows are one cell wide; joiners may be longer."""

    passed: str = "✓"
    failed: str = "✗"
    infra: str = "⊘"
    unscored: str = "?"
    absent: str = "_"
    root: str = "◆"
    manifest: str = "◈"
    first: str = "◇"
    same: str = "·"
    changed: str = "~"
    other_result: str = "≠"
    extra: str = "+"
    missing: str = "-"
    error: str = "!"
    end: str = "■"
    moved: str = "%"
    arrow: str = "→"
    times: str = "×"
    ellipsis: str = "…"
    dash: str = "–"
    dot: str = " · "

    @property
    def is_ascii(self) -> bool:
        """Whether this is the ASCII set."""
        return self.root.isascii()

    def trial(self, verdict: Verdict | None) -> str:
        """The mark of a trial; None is an expected trial that is not there."""
        if verdict is None:
            return self.absent
        return {
            Verdict.PASS: self.passed,
            Verdict.FAIL: self.failed,
            Verdict.INFRA: self.infra,
            Verdict.UNSCORED: self.unscored,
        }[verdict]

    def step(self, op: Op) -> str:
        """The mark of a step that is compared with the reference; blank for the reference itself."""
        return {
            Op.REFERENCE: " ",
            Op.SAME: self.same,
            Op.CHANGED: self.changed,
            Op.OTHER_RESULT: self.other_result,
            Op.EXTRA: self.extra,
            Op.MISSING: self.missing,
            Op.MOVED: self.moved,
        }[op]

    def words(self, text: str) -> str:
        """Our own words with this set's joiners. Never for text from a log, which stays as recorded."""
        return text.translate(_TO_ASCII) if self.is_ascii else text


#: Marks and joiners of our own sentences, for output that has to be ASCII.
_TO_ASCII = str.maketrans(
    {
        "→": "->",
        "×": "x",
        "…": "...",
        "–": " to ",
        "·": ";",
        "≠": "=",
        "≤": "<=",
        "≥": ">=",
        "✓": "P",
        "✗": "F",
        "⊘": "I",
        "◆": "*",
        "◈": "@",
        "◇": "o",
        "■": "#",
    }
)

UNICODE = Marks()
ASCII = Marks(
    passed="P",
    failed="F",
    infra="I",
    root="*",
    manifest="@",
    first="o",
    same=".",
    other_result="=",
    end="#",
    arrow="->",
    times="x",
    ellipsis="...",
    dash=" to ",
    dot="; ",
)

#: What each mark means, in the order of the legend.
MEANINGS = {
    "passed": "passed trial",
    "failed": "failed trial",
    "infra": "ended by infrastructure",
    "unscored": "unscored trial",
    "absent": "expected trial that is not there",
    "root": "root step of a divergence",
    "manifest": "manifest step, when it is another step",
    "first": "first difference that is not the divergence",
    "same": "same as the reference",
    "changed": "same tool, changed arguments or text",
    "other_result": "same call, other result",
    "extra": "extra step",
    "missing": "missing step",
    "error": "tool error",
    "end": "end of the trial",
    "moved": "same step at another place",
}
