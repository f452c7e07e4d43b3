"""Plain text with one item a line, for programs and people that want nothing else."""

from __future__ import annotations

from temporal_assets.policy.document import Document
from temporal_assets.policy.exports.rules import by_rank


def files(document: Document) -> dict[str, str]:
    """Return the text of each file by its name; the best entries come first."""
    prefixes = sorted(document["prefixes"], key=lambda row: (row["tier"], row["prefix"]))
    lists = {
        "sites.txt": [entry["site"] for entry in document["sites"]],
        "hubs.txt": [hub["url"] for hub in by_rank(document)],
        "prefixes.txt": [entry["prefix"] for entry in prefixes],
        "hubs.tsv": [
            "url\ttier\tinterval_seconds",
            *(f"{h['url']}\t{h['tier']}\t{h['interval_seconds']}" for h in by_rank(document)),
        ],
    }
    lists["sources.tsv"] = [
        "url\tkind\ttier\tinterval_seconds",
        *(
            f"{source['url']}\t{source['kind']}\t{source['tier']}\t{source['interval_seconds']}"
            for source in document["sources"]
        ),
    ]
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in lists.items()}
