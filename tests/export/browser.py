"""Headless Chromium without a network, driven over its debugging pipe: pages are opened, clicked and photographed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars --disable-background-networking "
    "--remote-debugging-pipe --host-resolver-rules=MAP\u00a0*\u00a0~NOTFOUND"
)


class Page:
    """One tab. ``problems`` collects what the console complains of, ``requests`` every address asked for."""

    def __init__(self, process: subprocess.Popen[bytes], out: int, into: int) -> None:
        self._process, self._out, self._in = process, out, into
        self._number, self._buffer, self._session = 0, b"", ""
        self._done: set[str] = set()
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Send one command and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Load a file in a window of the given size and colour scheme, and wait until it is there with its fonts."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._done.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while "Page.loadEventFired" not in self._done:
            self._receive()
        self.run("document.fonts.ready.then(() => true)")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, promises awaited."""
        result = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "script failed"))
        return result["result"].get("value")

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        """Press and release one key."""
        fields: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **({"text": text} if text else {}), **fields)
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def photograph(self, path: Path) -> None:
        """The whole page as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")["data"]
        path.write_bytes(b64decode(data))

    def _receive(self) -> Any:
        while b"\0" not in self._buffer:
            data = os.read(self._out, 1 << 16)
            if not data:
                raise RuntimeError("the browser ended")
            self._buffer += data
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(raw)
        method, params = message.get("method", ""), message.get("params", {})
        self._done.add(method)
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        return message


@contextmanager
def browser() -> Iterator[Page]:
    """A browser with one empty tab; it ends with the block."""
    assert PROGRAM is not None
    commands, into = os.pipe()
    out, answers = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:

        def wire() -> None:
            # Chromium reads commands from descriptor 3 and answers on 4.
            first, second = os.dup(commands), os.dup(answers)
            os.dup2(first, 3)
            os.dup2(second, 4)

        process = subprocess.Popen(
            [PROGRAM, *(flag.replace("\u00a0", " ") for flag in FLAGS.split(" ")), f"--user-data-dir={profile}"],
            preexec_fn=wire,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        try:
            yield Page(process, out, into)
        finally:
            process.terminate()
            process.wait()
            os.close(into)
            os.close(out)
