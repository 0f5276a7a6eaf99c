"""TensorBoard's page itself, in a browser without a window: `pytest -m browser`, where Chromium is installed.

The dashboards keep their elements in shadow roots, which `--dump-dom` leaves out. So the browser opens a page that has
the dashboard in a frame, does there what a user would, and writes out all the text that it finds.
"""

import html
import json
import re
import shutil
import subprocess
import threading

import pytest
from tensorboard import assets, default
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

import board

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
SECONDS = 20  # of the browser's own time, which runs as fast as it can
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")]

PAGE = """<!doctype html>
<iframe src="/#%s" style="width: 1400px; height: 2400px"></iframe><pre id="found"></pre>
<script>
const doings = %s
const inside = (node, visit) => {
  visit(node)
  for (const child of [node.shadowRoot, ...node.childNodes])
    if (child && !["SCRIPT", "STYLE", "TEMPLATE"].includes(child.tagName)) inside(child, visit)
}
const doing = {
  click: element => element.dispatchEvent(new MouseEvent("click", {bubbles: true, composed: true})),
  open: element => {  // a box of a graph: its label is beside what takes the double click
    const box = element.closest(".node")?.querySelector(".nodecolortarget")
    return box?.dispatchEvent(new MouseEvent("dblclick", {bubbles: true, composed: true}))
  },
}
const texts = root => {
  const found = []
  inside(root, node => node.nodeType == Node.TEXT_NODE && node.data.trim() && found.push(node))
  return found
}
setInterval(() => {
  const found = texts(frames[0].document.body)
  document.getElementById("found").textContent = found.map(node => node.data.trim()).join("\\n")
  if (!doings.length) return
  const [what, label] = doings[0]
  if (found.some(node => node.data.trim() == label && doing[what](node.parentElement))) doings.shift()
}, 1000)
</script>
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A running TensorBoard, with the page above at `/frame`."""
    logdir = tmp_path_factory.mktemp("logs")
    board.write_summaries(logdir)
    board.write_trials(logdir)
    shown = board.server(logdir, default.get_static_plugins(), assets.get_default_assets_zip_provider())

    def answer(environment, start):
        asked = Request(environment)
        if asked.path != "/frame":
            return shown(environment, start)
        page = PAGE % (asked.args["dashboard"], asked.args["doings"])
        return Response(page, mimetype="text/html")(environment, start)

    server = make_server("127.0.0.1", 0, answer, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()


@pytest.fixture
def see(address, tmp_path):
    """What a dashboard shows, line by line, after clicks on labels and the opening of boxes of a graph."""

    def see(dashboard, *doings):
        query = f"dashboard={dashboard}&doings={json.dumps(doings)}".replace('"', "%22").replace(" ", "%20")
        flags = ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--dump-dom"]
        flags += [f"--user-data-dir={tmp_path}", f"--virtual-time-budget={SECONDS * 1000}", "--window-size=1500,2500"]
        done = subprocess.run(
            [CHROMIUM, *flags, f"{address}/frame?{query}"], capture_output=True, text=True, timeout=120, check=True
        )
        return html.unescape(re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)[1]).splitlines()

    return see


@pytest.mark.parametrize(
    ("dashboard", "shown"),
    [
        ("timeseries", ["train", "batch_loss", "epoch_loss", "wide/train"]),
        ("scalars", ["train", "batch_loss", "epoch_learning_rate"]),
        ("images", ["image", "model/hidden/kernel/image"]),
        ("histograms", ["train/y", "model/head/bias/histogram"]),
        ("distributions", ["train/y", "model/head/bias/histogram"]),
        ("text", ["text", "all", "is well"]),
        ("audio", ["audio"]),
        ("hparams", ["wide", "deep", "the score", "0.12500", "0.50000"]),
    ],
)
def test_dashboards(see, dashboard, shown):
    found = see(dashboard)
    assert [text for text in shown if text not in found] == []


def test_graphs_of_functions_are_drawn(see):
    found = see("graphs", ("click", "run"), ("open", "train"))
    assert "product" in found and "Mean" in found
    assert "4\N{MULTIPLICATION SIGN}2" in see("graphs", ("click", "run"), ("click", "trace"))


def test_graphs_of_models_are_drawn(see):
    found = see("graphs", ("click", "wide/train"), ("click", "keras"), ("open", "model"))
    assert "hidden" in found and "head" in found


def test_training_steps_are_drawn_with_their_gradients(see):
    found = see("graphs", ("click", "wide/train"), ("click", "batch_2"), ("open", "one_step_on_data"))
    assert "gradient_tape" in found
