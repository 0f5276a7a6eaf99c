"""Runs the Python blocks of a page, and writes below each what it printed and drew.

A page is one program: its blocks share their names and run in their order, in a process of its own and an empty folder
that has the repository's `examples` in it. What is printed, to stderr too, and each matplotlib figure that is left open
stand below the block. A block that raises stops the build, with a traceback whose lines are those of the page. A block
of a shell that starts TensorBoard has a picture of its page below, where Chromium is installed.

Sphinx calls `setup`; the tests call `run`, so that a page is tested by what builds it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
from typing import Any

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "pictures"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BOARD = re.compile(r"^```console\n\$ tensorboard --logdir (\S+)\n```$", re.MULTILINE)
RUN = re.compile(f"{BLOCK.pattern}|{BOARD.pattern}", re.MULTILINE | re.DOTALL)
SETTINGS = {
    "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "88", "NO_COLOR": "1", "MPLBACKEND": "svg",
    "KERAS_BACKEND": "tensorflow", "PYTHONWARNINGS": "ignore::FutureWarning",  # torch's, with paths of the machine
}  # fmt: skip
# Errors of graphs name the lines that led to an operation. A page that is a file of its own has no lines of this one.
HERE = re.compile(rf'^ *File "{re.escape(__file__)}", line .*\n\n?', re.MULTILINE)
STYLE = "figure.figsize: 6.4, 3.2\nfigure.constrained_layout.use: True\nsvg.hashsalt: page\n"


@dataclasses.dataclass
class Output:
    """What a block printed, and the titles of its figures by their files."""

    text: str
    pictures: dict[str, str]


class PageError(Exception):
    """A block of a page raised."""


def program(text: str) -> str:
    """Returns a page as a Python file: all but its blocks is empty lines, so that each line keeps its number."""
    lines = [""] * (text.count("\n") + 1)
    for match in BLOCK.finditer(text):
        start = text.count("\n", 0, match.start(1))
        code = match[1].splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines)


def run(page: pathlib.Path, pictures: pathlib.Path) -> list[Output]:
    """Runs a page.

    Args:
        page: a Markdown file.
        pictures: a folder for its figures.

    Returns:
        The output of each block that is run.

    Raises:
        PageError: a block raised.
    """
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", pathlib.Path(folder, "examples"))
        pathlib.Path(folder, "matplotlibrc").write_text(STYLE, encoding="utf-8")
        search = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
        variables = os.environ | SETTINGS | {"PYTHONPATH": search, "KERAS_HOME": folder, "MPLCONFIGDIR": folder}
        command = [sys.executable, __file__, str(page.resolve()), str(pictures.resolve())]
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PageError(f"{page}:\n{done.stderr.strip()}")
    return [Output(**output) for output in json.loads(done.stdout)]


def run_here(page: pathlib.Path, pictures: pathlib.Path) -> list[Output]:
    """Runs the blocks of a page in this process, in the current folder."""
    text = page.read_text(encoding="utf-8")
    file = f"{page.stem}.py"  # tracebacks and AutoGraph read the lines there
    pathlib.Path(file).write_text(program(text), encoding="utf-8")
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(module)["__file__"] = file
    sys.argv, sys.path[0] = [file], ""
    outputs = []
    for match in RUN.finditer(text):
        source, logs = match.groups()
        if logs:
            outputs.append(Output("", save_screenshot(logs, pictures)))
            continue
        printed = io.StringIO()
        code = compile("\n" * text.count("\n", 0, match.start(1)) + source, file, "exec")
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            exec(code, vars(module))
        outputs.append(Output(HERE.sub("", printed.getvalue()), save_figures(pictures)))
    return outputs


def save_screenshot(logs: str, folder: pathlib.Path) -> dict[str, str]:
    """Saves a picture of TensorBoard's page for some logs, if there is a browser; returns its title by its file."""
    if browser.CHROMIUM is None:
        return {}
    name = f"{number_of_next(folder)}.png"
    browser.photograph_tensorboard(logs, folder / name)
    return {name: f"TensorBoard's page for {logs}"}


def number_of_next(folder: pathlib.Path) -> int:
    """Returns the number of the next picture in a folder, from 1 on."""
    return len(list(folder.iterdir())) + 1


def save_figures(folder: pathlib.Path) -> dict[str, str]:
    """Saves the figures that are open, closes them, and returns their titles by their files."""
    if "matplotlib.pyplot" not in sys.modules:
        return {}
    import matplotlib.pyplot as plt

    titles = {}
    for number in plt.get_fignums():
        figure = plt.figure(number)
        title = figure.get_suptitle() or "; ".join(filter(None, (axes.get_title() for axes in figure.axes)))
        if not title:
            raise ValueError("a figure needs a title: who can't see it is told that")
        name = f"{number_of_next(folder)}.svg"
        figure.savefig(folder / name, metadata={"Date": None})
        titles[name] = title
    plt.close("all")
    return titles


def below(output: Output, pictures: str) -> str:
    """Returns the Markdown of what stands below a block."""
    parts = []
    if output.text.strip():
        parts.append(f"````{{code-block}} text\n:class: output\n\n{output.text.rstrip()}\n````")
    parts += [f"![{title}]({pictures}/{name})" for name, title in output.pictures.items()]
    return "".join(f"\n\n{part}" for part in parts)


def write_outputs(app: Any, name: str, source: list[str]) -> None:
    """Changes the text of a page as Sphinx reads it."""
    page = pathlib.Path(app.env.doc2path(name))
    if page.suffix != ".md" or not BLOCK.search(source[0]):
        return
    outputs = iter(run(page, PICTURES / name))
    folder = "/" + os.path.relpath(PICTURES / name, app.srcdir).replace(os.sep, "/")
    source[0] = RUN.sub(lambda match: match[0] + below(next(outputs), folder), source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", write_outputs)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    try:
        results = run_here(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    except BaseException as error:  # SystemExit too: a page has no exit status
        trace = error.__traceback__.tb_next.tb_next  # without this file's own frames
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)
    json.dump([dataclasses.asdict(result) for result in results], sys.stdout)
