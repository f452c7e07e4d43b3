"""The pattern tree: templates of small sites written by hand, and what must hold for any site."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.patterns.pattern_text import pattern_text
from temporal_assets.core.patterns.pattern_tree import PatternTree
from temporal_assets.core.patterns.syntax.tree_builder import TreeOptions, pattern_tree
from temporal_assets.core.text.readable import readable
from temporal_assets.core.text.texts import texts

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty")
SLUGS = tuple("-".join(words) for words in product(WORDS, WORDS))


def tree_of(paths: list[str], min_urls: int = 10) -> PatternTree:
    urls = [path if "://" in path else f"https://h.example{path}" for path in paths]
    return pattern_tree(texts(urls), TreeOptions(min_urls=min_urls))


def templates(tree: PatternTree) -> dict[str, int]:
    """Template and size of each leaf."""
    return {pattern_text(tree, n).template(): int(tree.sizes[n]) for n in tree.leaves.tolist()}


def urls_of(tree: PatternTree, node: int) -> np.ndarray:
    """URL numbers of a node, ascending."""
    return np.sort(tree.order[tree.start[node] : tree.stop[node]])


def news(section: str, count: int) -> list[str]:
    return [f"/{section}/2024/0{i % 2 + 1}/{i % 28 + 1:02}/{SLUGS[i]}.html" for i in range(count)]


HOSTS = ["https://www.h.example", "https://m.h.example", "https://h.example"]


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        (
            news("politics", 60) + news("sport", 50) + [f"/about/{w}" for w in WORDS] + ["/"],
            {"/politics/{year}/{month}/{day}/{slug}.html": 60,
             "/sport/{year}/{month}/{day}/{slug}.html": 50, "/about/{word}": 10, "/": 1},
        ),
        (  # a program with parameters
            [f"/show.php?id={i}" for i in range(1000, 1080)]
            + [f"/show.php?id={i}&print" for i in range(1000, 1040)],
            {"/show.php?id={digits}": 80, "/show.php?print&id={digits}": 40},
        ),
        ([f"/?{i}" for i in range(500, 540)], {"/?{digits}": 40}),
        (  # listings, and what they list
            [f"/{w}/" for w in WORDS]
            + [f"/{w}/{SLUGS[i * 10 + k]}" for i, w in enumerate(WORDS) for k in range(3)],
            {"/{word}/": 10, "/{word}/{slug}": 30},
        ),
        # All URLs of a window are of one year; next year's are of the same pattern.
        ([f"/2024/{s}" for s in SLUGS], {"/{year}/{slug}": 100}),
        (
            [f"/{y}/{s}" for y in (2023, 2024) for s in SLUGS[:40]]
            + [f"/topic/{s}" for s in SLUGS[:30]],
            {"/{year}/{slug}": 80, "/topic/{slug}": 30},
        ),
        (  # numbers after other words are no dates
            [f"/forum/12/{i}" for i in range(1000, 1050)]
            + [f"/forum/7/{i}" for i in range(1000, 1020)],
            {"/forum/12/{digits}": 50, "/forum/7/{digits}": 20},
        ),
        (
            [f"{host}/{s}" for host in HOSTS for s in SLUGS[:20]],
            {f"//{host[8:]}/{{slug}}": 20 for host in HOSTS},
        ),
        # A handful keeps structure only, and a rare query key does not divide.
        (["/team/ann.html?x=1", "/team/bob.html?x=1"], {"/{word}/{word}.html?x={digits}": 2}),
        ([f"/{s}" for s in SLUGS] + [f"/{s}?ref=x" for s in SLUGS[:5]], {"/{slug}": 105}),
        *(
            ([url], {template: 1})
            for url, template in (
                *(("/", "/"), ("/a", "/{word}"), ("/about/", "/{word}/")),
                *(("/x?id=7", "/{word}?id={digits}"), ("/a/b.html", "/{word}/{word}.html")),
            )
        ),
    ],
)  # fmt: skip
def test_templates_of_small_sites(site: list[str], expected: dict[str, int]) -> None:
    assert templates(tree_of(site)) == expected


def test_fields_that_repeat_their_key() -> None:
    site = [f"/list?tag={a}&tag={b}" for a in WORDS for b in WORDS[:3]]
    tree = tree_of(site)
    assert list(templates(tree)) == ["/list?tag={word}&tag=amber", "/list?tag={word}&tag=birch",
                                     "/list?tag={word}&tag=cedar"]  # fmt: skip


def test_case_and_percent_escapes_are_kept() -> None:
    site = [f"/News/%E4%B8%AD/{s}" for s in SLUGS[:20]] + [f"/news/{s}" for s in SLUGS[:20]]
    tree = tree_of(site)
    assert templates(tree) == {"/News/中/{slug}": 20, "/news/{slug}": 20}
    (node,) = (leaf for leaf in tree.leaves if "News" in pattern_text(tree, leaf).template())
    written = pattern_text(tree, node)
    assert written.key_values()["path[1]"] == "%E4%B8%AD"
    assert r"/News/%E4%B8%AD/" in written.expression()


@pytest.mark.parametrize(
    ("encoded", "shown"),
    [
        ("/%D0%BD%D0%BE%D0%B2-%D1%8F1", "/нов-я1"),
        ("/%E2%80%AEgpj", "/%E2%80%AEgpj"),  # turns the direction of what follows
        ("/%E4%B8%AD%EF%BC%8C%E6%96%87", "/中%EF%BC%8C文"),
        ("/caf%E9%20x%2Fy", "/caf%E9%20x%2Fy"),  # Latin-1, a space, a slash
    ],
)
def test_letters_of_other_scripts_are_readable(encoded: str, shown: str) -> None:
    assert readable(encoded) == shown


def test_numbers_and_slugs_are_called_so_however_they_look() -> None:
    """Some numbers look like dates by chance, some slugs end in a number, and some are words."""
    numbers = [f"/p/{n}" for n in range(200_300, 201_300, 7)]
    slugs = [f"/t/{'amber' if n % 4 else 'a-b'}-c{n:05}{'' if n % 3 else '-x'}" for n in range(40)]
    words = [f"/w/{'ab' * (n % 7 + 1)}{'' if n % 3 else '-x'}{chr(97 + n % 26)}" for n in range(60)]
    written = templates(tree_of(numbers + slugs + words))
    assert set(written) == {"/p/{digits}", "/t/{slug}", "/w/{*}"}


def test_a_site_without_pages_is_refused() -> None:
    with pytest.raises(ValueError, match="without URLs"):
        pattern_tree(texts([]))


def test_support_grows_with_the_site() -> None:
    options = TreeOptions(min_urls=10, min_share=1e-4)
    assert options.support(500) == 10
    assert options.support(1_700_000) == 170


def test_key_values_name_what_is_fixed_missing_and_free() -> None:
    tree = tree_of(news("sport", 40) + [f"/blog/{s}" for s in SLUGS[:30]])
    leaf = int(tree.leaves[np.argmax(tree.sizes[tree.leaves])])
    assert pattern_text(tree, leaf).key_values() == {
        "scheme": "https", "host[0]": "example", "host[1]": "h", "path[0]": "sport",
        "path[1]": "{year}", "path[2]": "{month}", "path[3]": "{day}", "path[4]": "{slug}",
        "extension": "html",
    }  # fmt: skip
    other = int(tree.leaves[np.argmin(tree.sizes[tree.leaves])])
    values = pattern_text(tree, other).key_values()
    assert values["path[2]"] is None
    assert values["extension"] is None


def test_constant_keys_make_no_level() -> None:
    """Lowest entropy first would otherwise be scheme, host, path[0], extension."""
    tree = tree_of(news("sport", 40))
    assert tree.hierarchy.height == 0


def test_the_lowest_entropy_divides_first() -> None:
    """Two formats for most URLs, ten sections: the format has the lower entropy."""
    site = [f"/{w}/{s}.{'html' if i else 'php'}" for w in WORDS for i, s in enumerate(SLUGS[:20])]
    tree = tree_of(site)
    assert tree.keys.keys.label(int(tree.split_key[0])) == "extension"


def test_ties_go_to_the_earlier_key() -> None:
    site = [f"/{'ab'[i % 2]}/{'xy'[i // 2 % 2]}/{SLUGS[i]}?q={'st'[i // 4 % 2]}" for i in range(80)]
    tree = tree_of(site)
    assert tree.keys.keys.label(int(tree.split_key[0])) == "path[0]"


def test_urls_and_totals_of_nodes() -> None:
    site = news("politics", 30) + news("sport", 20)
    tree = tree_of(site)
    sport = next(n for n in tree.leaves.tolist() if tree.sizes[n] == 20)
    assert urls_of(tree, sport).tolist() == list(range(30, 50))
    totals = tree.totals(np.arange(50))
    assert totals[0] == sum(range(50))
    assert totals[sport] == sum(range(30, 50))


def test_cut_trees_are_trees() -> None:
    tree = tree_of(news("politics", 30) + news("sport", 20) + [f"/blog/{s}" for s in SLUGS[:30]])
    root = np.zeros(len(tree), np.bool_)
    root[0] = True
    whole = tree.cut(root)
    assert templates(whole) == {
        "/{{politics|sport}/{year}/{month}/{day}/{slug}.html|blog/{slug}}": 80
    }
    assert whole.leaf_of_url().tolist() == [0] * 80
    same = tree.cut(tree.hierarchy.is_leaf)
    assert templates(same) == templates(tree)


segments = st.sampled_from(["a", "b", "2024", "07", "x-y", "", "9", "i.html"])
paths = st.lists(
    st.lists(segments, min_size=1, max_size=4).map("/".join), min_size=1, max_size=80, unique=True
)


@given(paths, st.integers(2, 8))
def test_leaves_partition_the_urls(found: list[str], support: int) -> None:
    tree = tree_of([f"/{p}" for p in found], support)
    assert sorted(np.concatenate([urls_of(tree, n) for n in tree.leaves.tolist()])) == list(
        range(len(found))
    )
    assert (tree.sizes[tree.leaves] > 0).all()
    inner = np.flatnonzero(~tree.hierarchy.is_leaf).tolist()
    for node in inner:
        children = tree.hierarchy.children(node)
        assert len(children) >= 2
        assert tree.sizes[children].sum() == tree.sizes[node]
        assert tree.sizes[node] >= support
    leaf = tree.leaf_of_url()
    assert all(i in urls_of(tree, int(leaf[i])) for i in range(len(found)))


@given(paths, st.integers(2, 8), st.randoms(use_true_random=False))
def test_the_order_of_the_urls_does_not_matter(
    found: list[str], support: int, shuffle: random.Random
) -> None:
    other = list(found)
    shuffle.shuffle(other)

    def described(some: list[str]) -> list[tuple[str, str, int]]:
        tree = tree_of([f"/{p}" for p in some], support)
        return [
            (
                pattern_text(tree, n).template(),
                pattern_text(tree, n).expression(),
                int(tree.sizes[n]),
            )
            for n in range(len(tree))
        ]

    assert described(found) == described(other)
