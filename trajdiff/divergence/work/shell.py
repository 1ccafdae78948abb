"""A command line taken apart: pipelines, lists, redirections and here-documents become simple commands.

Only what is needed to see files: expansions stay as they are written, and what cannot be parsed is split at
white space. Nothing is ever run.
"""

from __future__ import annotations

import re
import shlex

from msgspec import Struct

#: Longer commands are programs; only their first part is taken apart.
LONGEST = 20_000
_HERE = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][\w.]*)\1")
_INTO = frozenset({">", ">>", ">|", "&>", "&>>"})
_FROM = frozenset({"<", "<>"})


class Simple(Struct, frozen=True, kw_only=True):
    """One simple command: its words, the files its output goes to, what its here-document says, and whether
    it replaces (not appends to) what it writes."""

    words: tuple[str, ...]
    into: tuple[str, ...] = ()
    out_of: tuple[str, ...] = ()
    body: str | None = None
    replaces: bool = False


def simple_commands(text: str) -> tuple[Simple, ...]:
    """The simple commands of a command line, in order."""
    rest, bodies = _here_documents(text[:LONGEST])
    found = []
    for piece in _pieces(rest):
        here = len(_HERE.findall(piece))
        body = "\n".join(bodies[:here]) if here else None
        bodies = bodies[here:]
        simple = _simple(_HERE.sub(" ", piece), body)
        if simple.words or simple.into:
            found.append(simple)
    return tuple(found)


def _here_documents(text: str) -> tuple[str, list[str]]:
    """The text without the bodies of its here-documents, and the bodies."""
    kept: list[str] = []
    bodies: list[str] = []
    waiting: list[str] = []
    body: list[str] = []
    for line in text.split("\n"):
        if waiting:
            if line.strip() == waiting[0]:
                waiting.pop(0)
                bodies.append("\n".join(body))
                body = []
            else:
                body.append(line)
            continue
        kept.append(line)
        waiting = [name for _, name in _HERE.findall(line)]
    bodies += ["\n".join(body), *[""] * len(waiting)][: len(waiting)]
    return "\n".join(kept), bodies


def _pieces(text: str) -> list[str]:
    """Parts between ``;``, ``&&``, ``||``, ``|``, ``&`` and line ends that stand outside quotes."""
    pieces: list[str] = []
    piece: list[str] = []
    quote = ""
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\" and quote != "'":
            piece.append(" " if text[at : at + 2] == "\\\n" else text[at : at + 2])
            at += 2
            continue
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign in ";|\n" or (sign == "&" and text[at - 1 : at] != ">" and text[at + 1 : at + 2] != ">"):
            pieces.append("".join(piece))
            piece = []
            at += 1
            continue
        piece.append(sign)
        at += 1
    return [found for found in (*pieces, "".join(piece)) if found.strip()]


def _simple(piece: str, body: str | None) -> Simple:
    words: list[str] = []
    into: list[str] = []
    out_of: list[str] = []
    replaces = False
    tokens = _tokens(piece)
    at = 0
    while at < len(tokens):
        token, following = tokens[at], tokens[at + 1 : at + 2]
        if token in _INTO and following:
            if words and words[-1] in ("1", "2"):
                words.pop()
            into += following
            replaces = replaces or ">>" not in token
            at += 2
        elif token in _FROM and following:
            out_of += following
            at += 2
        elif token in (">&", "<<<", "<&"):
            if words and words[-1] in ("1", "2"):
                words.pop()
            at += 2
        else:
            words.append(token)
            at += 1
    return Simple(
        words=tuple(word for word in words if word not in ("(", ")", "{", "}")),
        into=tuple(name for name in into if name != "/dev/null"),
        out_of=tuple(out_of),
        body=body,
        replaces=replaces,
    )


def _tokens(piece: str) -> list[str]:
    try:
        lexer = shlex.shlex(piece, posix=True, punctuation_chars="<>&|")
        lexer.whitespace_split = True
        lexer.commenters = ""
        return list(lexer)
    except ValueError:  # an open quote
        return piece.split()
