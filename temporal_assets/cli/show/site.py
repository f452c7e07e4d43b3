"""`temporal-assets show site`: the labels, sections and patterns of a site, one after another."""

from __future__ import annotations

from typing import Annotated

import typer

from temporal_assets.cli.shared.exits import command
from temporal_assets.cli.shared.options import State
from temporal_assets.cli.shared.windows import Day
from temporal_assets.cli.show import labels, patterns, tree


@command
def run(
    site: Annotated[
        str, typer.Argument(metavar="SITE", help="The host of the site.", show_default=False)
    ],
    state: State = None,
    day: Day = None,
) -> None:
    """Show how the pages of a site are labelled, where its news is, and its URL patterns.

    `show labels`, `show tree` and `show patterns` show more of each, and write JSON.
    """
    labels.run(site=site, state=state, day=day)
    tree.run(site=site, state=state, day=day)
    patterns.run(site=site, state=state, day=day)
