"""A headless Chromium that goes where tests send it, over its own DevTools protocol.

Only what the tests of the UI need: open, look, wait, click, type, photograph. The protocol is
JSON over a web socket, for which `websockets` is there with the web server.
"""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import pytest
from websockets.sync.client import ClientConnection, connect

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

_LOOK_SECONDS: Final = 0.2
"""Between two looks at a page that is waited for."""

_CONTROL: Final = 2
"""The protocol's number of the key."""

_MAX_MESSAGE: Final = 64 << 20
"""Bytes of one answer; a screenshot has some."""

_FIND: Final = """
(() => {
  const wanted = %s;
  const label = e => (e.innerText || '').trim().replaceAll('\u2026', '...');
  const shown = [...document.querySelectorAll('*')].filter(e => {
    const r = e.getBoundingClientRect();
    return r.width && r.height && label(e) === wanted && !e.closest('[disabled]');
  });
  // The innermost one: what surrounds it reads the same, and may be much larger.
  const e = shown.filter(one => !shown.some(other => other !== one && one.contains(other))).pop();
  if (!e) return null;
  e.scrollIntoView({block: 'center'});
  const r = e.getBoundingClientRect();
  return [r.x + r.width / 2, r.y + r.height / 2];
})()"""


class NotShown(AssertionError):
    """Wait that ran out; the message says what was there instead."""


def program() -> str:
    """Chromium; skips the test where there is none."""
    actual = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if actual is None:
        pytest.skip(f"no Chromium: none of {', '.join(_NAMES)} is on the path")
    return actual


@dataclass(frozen=True, slots=True)
class Told:
    """An element as a screen reader has it; the level is that of a heading, otherwise 0."""

    role: str
    name: str
    level: int


def _told(node: dict[str, Any]) -> Told:
    facts = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
    name = str(node.get("name", {}).get("value", ""))
    return Told(node["role"]["value"], name, int(facts.get("level") or 0))


class Page:
    """Browser tab, driven over the DevTools protocol."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._call("Page.enable")

    def open(self, url: str) -> None:
        self._call("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def text(self) -> str:
        """Return the text that a person reads."""
        return str(self.run("document.body ? document.body.innerText : ''") or "")

    def wait(self, holds: Callable[[], Any], what: str, seconds: float = 30) -> Any:
        """Wait until `holds` returns something true, and return it."""
        end = time.monotonic() + seconds
        while not (actual := holds()):
            if time.monotonic() > end:
                raise NotShown(f"{what} after {seconds:g} s; the page says:\n{self.text()[:4000]}")
            time.sleep(_LOOK_SECONDS)
        return actual

    def wait_text(self, *texts: str, seconds: float = 30) -> str:
        """The text of the page once it holds all of `texts`."""

        def actual() -> str | None:
            text = self.text()
            return text if all(phrase in text for phrase in texts) else None

        return str(self.wait(actual, f"no {texts}", seconds))

    def click(self, *texts: str) -> None:
        """Press what is labelled with one of `texts`, with the mouse, where it is."""

        def place() -> Any:
            actual = (self.run(_FIND % json.dumps(text)) for text in texts)
            return next(filter(None, actual), None)

        x, y = self.wait(place, f"nothing to press that says one of {texts}")
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector: str, text: str) -> None:
        """Replace what stands in a field or an editor."""
        focus = f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
        focus += " if (!e) return false; e.focus(); return document.activeElement === e; })()"
        self.wait(lambda: self.run(focus), f"no field {selector}")
        # Editors know the key, plain fields the command.
        self.press("a", 65, modifiers=_CONTROL, commands=["selectAll"])
        self._call("Input.insertText", text=text)

    def press(self, key: str, code: int, **how: Any) -> None:
        """Press a key, by its name and its number."""
        for kind in ("rawKeyDown", "keyUp"):
            down = how if kind == "rawKeyDown" else {}
            self._call(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **down
            )

    def enter(self) -> None:
        """The key that ends a field."""
        self.press("Enter", 13)

    def submit(self) -> None:
        """The same with its character, which is what sends a form."""
        for kind in ("keyDown", "keyUp"):
            self._call(
                "Input.dispatchKeyEvent",
                type=kind,
                key="Enter",
                windowsVirtualKeyCode=13,
                **({"text": "\r"} if kind == "keyDown" else {}),
            )

    def outline(self) -> list[Told]:
        """Return what a screen reader is told of, in the order it reads."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        return [_told(node) for node in nodes if not node["ignored"]]

    def photograph(self, path: Path, part: tuple[int, int] | None = None) -> None:
        """Write a picture of the visible page; `part` is a first pixel row and a height."""
        if part is None:
            shot = self._call("Page.captureScreenshot", format="png")
        else:
            width = self.run("innerWidth")
            clip = {"x": 0, "y": part[0], "width": width, "height": part[1], "scale": 1}
            shot = self._call(
                "Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True
            )
        path.write_bytes(base64.b64decode(shot["data"]))

    def print(self, path: Path) -> None:
        """Write the page as it comes out of a printer, on A4."""
        size = {"paperWidth": 210 / 25.4, "paperHeight": 297 / 25.4}
        sheets = self._call("Page.printToPDF", printBackground=True, **size)
        path.write_bytes(base64.b64decode(sheets["data"]))

    def emulate(self, width: int, height: int, scheme: str, media: str = "") -> None:
        """Be as wide as a device and as dark as its owner likes it; `print` is paper."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self._call(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:  # events come in between
            answer = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])


@contextmanager
def browse(program: str, folder: Path, width: int = 1500, height: int = 1000) -> Iterator[Page]:
    """A browser with one page, until the block ends. `folder` takes its profile."""
    profile = folder / "profile"
    process = subprocess.Popen(
        [
            program,
            "--headless",
            "--no-sandbox",  # build machines run as root
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            "--remote-debugging-port=0",
            "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{_port(profile / 'DevToolsActivePort', process)}/json/list"
        with urlopen(address, timeout=30) as answer:
            targets = json.load(answer)
        url = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
        with connect(url, max_size=_MAX_MESSAGE, proxy=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _port(file: Path, process: subprocess.Popen[bytes], seconds: float = 60) -> int:
    """Chromium writes down which port it took."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        lines = file.read_text("ascii").splitlines() if file.exists() else []
        if len(lines) > 1:
            return int(lines[0])
        time.sleep(_LOOK_SECONDS)
    raise RuntimeError(f"Chromium opened no port (exit code {process.poll()})")
