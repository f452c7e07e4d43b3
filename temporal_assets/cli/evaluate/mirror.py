"""`temporal-assets evaluate mirror`: make the copy of sites on which crawls are simulated.

Here: the command. Not here: reading the files and storing the copy (`crawl.mirror`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import FAILED, USAGE, CommandError, command
from temporal_assets.cli.shared.options import (
    Json,
    State,
    check_given,
    existing_settings,
    invocation,
)

if TYPE_CHECKING:
    from temporal_assets.crawl.mirror.mirror import Mirror, MirrorBuilder
    from temporal_assets.settings import Settings

_WORDS = {
    "pages": "pages",
    "links": "links between them",
    "outside": "links from or to what is no page of the mirror",
    "redirects": "redirects, followed",
    "duplicate": "pages read twice, the first kept",
    "revisit": "records of pages unchanged since an earlier crawl",
    "not_ok": "responses that are no success",
    "not_html": "responses that are no HTML",
    "no_page_url": "rows and records without the URL of a page",
    "html_kept": "pages whose HTML is kept",
    "html_left_out": "pages whose HTML is not: there was no more room",
    "broken": "broken records and rows, skipped",
}


@command
def run(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH...",
            help="WARC (.warc, .warc.gz), WAT (.wat.gz), links as CSV, TSV or Parquet (source,"
            " target), pages as Parquet (url, html), or folders of these.",
            show_default=False,
        ),
    ] = None,
    state: State = None,
    demo: Annotated[bool, typer.Option("--demo", help="The mirror of the demo.")] = False,
    transits: Annotated[
        bool,
        typer.Option("--transits", help="Pages and links as users went, from the logs."),
    ] = False,
    html: Annotated[
        int | None,
        typer.Option(
            "--html",
            metavar="MIB",
            min=1,
            help="Keep the HTML of pages as well, compressed, until about so much is written.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build the mirror of the state folder; one that is there is replaced."""
    from temporal_assets.crawl.mirror.sources import files_of

    settings = existing_settings(state)
    if not (sources or demo or transits):
        raise CommandError("name files or folders, or --demo, or --transits", USAGE)
    paths = list(sources or ())
    if demo:
        name = "links.parquet" if html is None else "pages.parquet"
        paths.append(settings.state / "demo" / "mirror" / name)
        if not paths[-1].exists():
            raise CommandError(
                f"there is no {console.place(paths[-1])}: `temporal-assets demo` writes it; of a"
                " demo in another folder name its files",
                USAGE,
            )
    check_given(*paths)
    mirror = make(settings, files_of(paths), transits=transits, html=html)
    counts = {"sites": len(mirror.sites), **mirror.counts}
    if as_json:
        console.write_json(counts)
        if counts.get("unreadable"):
            raise typer.Exit(FAILED)
        return
    rows = [(counts[name], words) for name, words in _WORDS.items() if counts.get(name)]
    console.show_table(
        f"The mirror of {console.counted(counts['sites'], 'site')}", ("how many", "what"), rows
    )
    console.say(f"Simulate crawls of it: {invocation('evaluate crawls', settings.state)}")
    if counts.get("unreadable"):
        raise typer.Exit(FAILED)


def make(
    settings: Settings, files: list[Path], *, transits: bool = False, html: int | None = None
) -> Mirror:
    """Make and store the mirror of some files; `html`: MiB of HTML that are kept."""
    from temporal_assets.crawl.mirror.mirror import MirrorBuilder, NoMirror, save
    from temporal_assets.crawl.mirror.page_html import FILE, HtmlKeeper
    from temporal_assets.crawl.mirror.sources import is_link_table
    from temporal_assets.logs.urls.url_rules import UrlRules
    from temporal_assets.machine.scratch import scratch_folder

    with scratch_folder(settings.state / "tmp") as scratch:
        try:
            if files and not transits and all(is_link_table(path) for path in files):
                mirror = _mirror_of_tables(files, settings, scratch)
                save(mirror, settings.state)
                return mirror
            keeper = None if html is None else HtmlKeeper(scratch / FILE, html << 20)
            builder = MirrorBuilder(UrlRules.from_settings(settings.cleaning), keeper)
            _read(files, builder)
            if transits:
                _add_transits(settings, builder)
            mirror = builder.build()
        except NoMirror as error:
            raise CommandError(str(error)) from None
        if keeper is not None:
            keeper.close()
        save(mirror, settings.state, None if keeper is None else keeper.path)
        return mirror


def _mirror_of_tables(files: list[Path], settings: Settings, scratch: Path) -> Mirror:
    """Return a mirror of large tables of links, made within the engine's memory limit.

    A table that cannot be read is left out, and reported as an error.
    """
    from temporal_assets.crawl.mirror.edge_list import BadLinks
    from temporal_assets.crawl.mirror.link_tables import mirror_of_tables
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.logs.urls.url_rules import UrlRules

    rules, left, bad = UrlRules.from_settings(settings.cleaning), list(files), 0
    while True:
        (out := scratch / f"tables-{bad}").mkdir()
        try:
            mirror = mirror_of_tables(engine_of(settings), left, rules, out)
        except BadLinks as error:
            if error.path is None or len(left) == 1:
                raise CommandError(str(error)) from None
            left.remove(error.path)
            bad += 1
            console.fail(str(error))
        else:
            return replace(mirror, counts=mirror.counts | ({"unreadable": bad} if bad else {}))


def _read(files: list[Path], builder: MirrorBuilder) -> None:
    """Read all files into the mirror that is being built."""
    from temporal_assets.crawl.mirror.sources import READERS, read_sources, reader_of
    from temporal_assets.logs.tables.parquet_batches import FAULTS

    for path in files:
        if reader_of(path) is None:
            readers = ", ".join(sorted(READERS))
            raise CommandError(f"{console.place(path)}: a mirror is made of {readers}", USAGE)
    with console.progress_bar("Reading", len(files)) as bar:
        for done, path in enumerate(files):
            bar.at(done, what=path.name)
            try:
                read_sources([path], builder)
            except (ValueError, *FAULTS) as error:
                if getattr(error, "errno", None):
                    # The operating system's error (disk, rights), not a damaged file: Arrow's
                    # errors for those have no errno.
                    raise
                if len(files) == 1:
                    raise CommandError(f"{console.place(path)}: {error}") from None
                console.fail(f"{console.place(path)}: {error}")
                builder.counts["unreadable"] += 1
    for trouble in builder.cut:
        console.warn(trouble)


def _add_transits(settings: Settings, builder: MirrorBuilder) -> None:
    """Add links that visitors followed and that the pages do not show."""
    from temporal_assets.crawl.mirror.mirror import NoMirror
    from temporal_assets.crawl.mirror.traffic import add_transits, traffic_of
    from temporal_assets.days.transits import transit_inputs
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.storage.store import Store

    store = Store.open(settings)
    days = [store.require("transits", day) for day in store.days("transits")]
    store.verify_all(days)
    try:
        with store.scratch() as scratch:
            transits = transit_inputs(store, days)
            add_transits(traffic_of(engine_of(settings), transits, scratch), builder)
    except NoMirror:
        build = invocation("materialize transits", settings.state)
        raise CommandError(f"no transits have been made yet: {build}") from None
