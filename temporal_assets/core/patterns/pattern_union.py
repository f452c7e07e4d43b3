"""Several patterns written as one: common pieces once, the rest as alternatives.

Here: joining pieces of text. Not here: what the pieces mean (`pattern_text`).

    /china/{date}/{digits}.shtml and /finance/stock/{date}/{digits}.shtml
    /{china|finance/stock}/{date}/{digits}.shtml
"""

from __future__ import annotations

from collections.abc import Sequence


def joined(alternatives: Sequence[Sequence[str]], begin: str, end: str, signs: str) -> str:
    """Return one text for alternatives that are given as lists of pieces.

    Common first and last pieces are written once; so is one of `signs` (such as `/`) that all
    alternatives begin with after that. `begin` and `end` enclose the alternatives.
    """
    alternatives = list(dict.fromkeys(map(tuple, alternatives)))
    if len(alternatives) == 1:
        return "".join(alternatives[0])
    first = _shared(alternatives)
    rest = [pieces[first:] for pieces in alternatives]
    last = _shared([pieces[::-1] for pieces in rest])
    middles = _grouped([pieces[: len(pieces) - last] for pieces in rest], begin, end, signs)
    before = "".join(alternatives[0][:first])
    after = "".join(rest[0][len(rest[0]) - last :])
    middle = middles[0] if len(middles) == 1 else _chosen(middles, begin, end, signs)
    return before + middle + after


def _grouped(alternatives: Sequence[Sequence[str]], begin: str, end: str, signs: str) -> list[str]:
    """Return the texts of the alternatives, fewer where some can be joined.

    Alternatives that differ only in their first piece share a text, as do alternatives in which
    only the first piece is the same.
    """
    heads: dict[tuple[str, ...], list[str]] = {}
    for pieces in alternatives:
        of_tail = heads.setdefault(tuple(pieces[1:]), [])
        of_tail += [head for head in pieces[:1] or [""] if head not in of_tail]
    tails: dict[str, list[Sequence[str]]] = {}
    for tail, of_tail in heads.items():
        head = of_tail[0] if len(of_tail) == 1 else _chosen(of_tail, begin, end, signs)
        tails.setdefault(head, []).append(tail)
    return [head + joined(of_head, begin, end, signs) for head, of_head in tails.items()]


def _chosen(texts: Sequence[str], begin: str, end: str, signs: str) -> str:
    """Return a choice between some texts; a sign that all begin with is written once."""
    sign = texts[0][:1]
    if not sign or sign not in signs or not all(text.startswith(sign) for text in texts):
        return f"{begin}{'|'.join(texts)}{end}"
    return f"{sign}{begin}{'|'.join(text[1:] for text in texts)}{end}"


def _shared(alternatives: Sequence[Sequence[str]]) -> int:
    """Return how many first pieces all alternatives have in common."""
    count = 0
    for pieces in zip(*alternatives, strict=False):
        if len(set(pieces)) > 1:
            break
        count += 1
    return count
