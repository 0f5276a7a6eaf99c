"""Runs Chromium without a window, where it is installed: for screenshots, and for pages as their scripts leave them."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--hide-scrollbars",
]  # fmt: skip


def browse(address: str, *flags: str, seconds: int = 20, size: str = "1500,1000") -> str:
    """Opens a page, and returns what the browser prints.

    Args:
        address: that of the page.
        *flags: further ones of Chromium, such as `--dump-dom`.
        seconds: how long the page's scripts may take, of the browser's own time, which runs as fast as it can.
        size: the window's width and height in pixels.

    Raises:
        CalledProcessError: the browser failed.
        TimeoutExpired: it took ten minutes.
    """
    assert CHROMIUM, "Chromium is not installed"
    with tempfile.TemporaryDirectory() as profile:
        own = [f"--user-data-dir={profile}", f"--virtual-time-budget={1000 * seconds}", f"--window-size={size}"]
        command = [CHROMIUM, *FLAGS, *own, *flags, address]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout


def photograph_tensorboard(logs: str, picture: pathlib.Path) -> None:
    """Starts TensorBoard on a folder of event files, and saves a picture of its first page.

    Raises:
        CalledProcessError: the browser failed.
    """
    from tensorboard.program import TensorBoard

    board = TensorBoard()
    all_read = ["--load_fast", "false", "--reload_task", "blocking", "--reload_interval", "0"]  # before it serves
    board.configure(argv=[None, "--logdir", logs, "--port", "0", *all_read])
    address = board.launch()  # its server is a thread of this process
    # Curves as SVG, as a browser without a screen may lack WebGL
    browse(f"{address}?darkMode=false&forceSVG=true#timeseries", f"--screenshot={picture}", size="1400,1160")
