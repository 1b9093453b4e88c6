"""How soon an explorer answers a hand: `python bench/bench_explore.py` (Chromium must be installed).

Points of the fit explorer, served by Voilà, are moved by the keyboard in a real browser; the time runs from the key to
the new sentence on the fit. Median and worst of 20.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "explore" / "fit.ipynb"
MOVED = """
async ([point, key]) => {
  const notes = document.querySelectorAll("p[role=note]");
  const before = notes[notes.length - 1].innerText;
  const started = performance.now();
  point.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  while (performance.now() - started < 5000) {
    await new Promise((done) => setTimeout(done, 4));
    const now = document.querySelectorAll("p[role=note]");
    if (now.length && now[now.length - 1].innerText !== before) break;
  }
  return performance.now() - started;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--moves", type=int, default=20, help="moves of a point by a key (20)"
    )
    moves: int = parser.parse_args().moves
    chromium = next(
        (
            found
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (found := shutil.which(name))
        ),
        "",
    )
    if not chromium:
        sys.exit("no browser is installed (Debian: apt install chromium)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryFile() as log, sync_playwright() as playwright:
        command = [
            sys.executable,
            "-m",
            "voila",
            str(NOTEBOOK),
            "--no-browser",
            f"--port={port}",
        ]
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            while True:
                try:
                    urllib.request.urlopen(
                        f"http://127.0.0.1:{port}/voila/static/", timeout=1
                    )
                except urllib.error.HTTPError:
                    break
                except OSError:
                    time.sleep(0.3)
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{port}/")
            point = page.get_by_role("slider", name="right at x = 0")
            point.wait_for(timeout=90_000)
            page.wait_for_timeout(1000)
            handle = point.element_handle()
            took = [
                page.evaluate(
                    MOVED, [handle, "ArrowDown" if at < moves / 2 else "ArrowUp"]
                )
                for at in range(moves)
            ]
            browser.close()
        finally:
            server.terminate()
            server.wait(20)
    print(
        f"a point moved by one key: median {statistics.median(took):.0f} ms, worst {max(took):.0f} ms"
    )


if __name__ == "__main__":
    main()
