"""`temporal-assets policy export`: the policy in the files of another crawler.

Here: the command. Not here: the files (`policy.exports` has an exporter for each crawler).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import Json, State
from temporal_assets.cli.shared.policies import PolicyPath, policy_path, read_policy

TARGET_NAMES: Final = (
    "browsertrix, crawl4ai, crawlee, heritrix, news-crawl, nutch, plain-text, scrapy, sitemap,"
    " stormcrawler, url-matcher, urlfrontier"
)
"""Written out, so that --help loads no exporter; a test compares the two."""


@command
def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help=f"One of {TARGET_NAMES}.",
            show_default=False,
            autocompletion=lambda: TARGET_NAMES.split(", "),
        ),
    ],
    folder: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", help="Where the files go.", show_default=False)
    ],
    policy: PolicyPath = None,
    state: State = None,
    as_json: Json = False,
) -> None:
    """Write the crawl policy as configuration of a crawler (docs/crawlers)."""
    from temporal_assets.policy.document import is_empty
    from temporal_assets.policy.exports import PROVISIONAL_FILE, TARGETS, export

    if target not in TARGETS:
        raise CommandError(f"{target!r} is no target; there are {TARGET_NAMES}", USAGE)
    document = read_policy(policy_path(policy, state))
    if is_empty(document):
        console.warn(
            "this policy names nothing to fetch: a crawler would do nothing with these files."
            f" {' '.join(document['notes'])}"
        )
    try:
        exported = export(document, target, folder)
    except OSError as error:
        raise CommandError(
            f"cannot write to {console.place(folder)}: {error.strerror or error}"
        ) from None
    if as_json:
        console.write_json(
            {
                "target": target,
                "folder": str(folder),
                "is_empty": is_empty(document),
                "provisional": document["provisional"],
                "notes": document["notes"],
                "written": [
                    {"file": str(path), "bytes": path.stat().st_size} for path in exported.written
                ],
                "removed": [str(path) for path in exported.removed],
            }
        )
        return
    for path in exported.written:
        console.write(f"{console.plain(console.place(path))}\t{path.stat().st_size}")
    for path in exported.removed:
        console.say(f"Removed {console.place(path)}: this policy has nothing for it.")
    if document["provisional"]:
        console.say(
            f"This policy is provisional, as {PROVISIONAL_FILE} says: {document['notes'][0]}"
            if document["notes"]
            else f"This policy is provisional, as {PROVISIONAL_FILE} says."
        )
    console.say(f"Where each file goes is in docs/crawlers ({target}).")
