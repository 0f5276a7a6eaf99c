"""The site in a browser: `pytest -m browser`, where Chromium is installed and `python3 dev.py docs` has built it."""

import functools
import html
import http.server
import json
import pathlib
import re
import threading

import pytest

import browser

SITE = pathlib.Path(__file__).parent.parent / "site"
SECONDS = 300  # of the browser's own time, which runs as fast as it can
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(not (SITE / "searchindex.js").exists(), reason="the site is not built"),
]

# Opens each page in a frame of some width, and writes out what `look` sees there.
DRIVER = """<!doctype html><body><pre id="seen"></pre><script>
const open = (address, width) => new Promise(done => {
  const frame = document.createElement("iframe")
  frame.style = `width: ${width}px; height: 900px; border: 0`
  frame.onload = () => done(frame)
  frame.src = address
  document.body.append(frame)
})
const later = () => new Promise(done => setTimeout(done, 500))
const look = {
  overflow: async frame => frame.contentDocument.documentElement.scrollWidth - frame.clientWidth,
  results: async frame => {
    const links = () => [...frame.contentDocument.querySelectorAll("#search-results ul.search li > a")]
    while (!links().length) await later()
    return links().map(link => link.getAttribute("href"))
  },
}
const seeAll = async (what, pages) => {
  const seen = []
  for (const [address, width] of pages) {
    const frame = await open(address, width)
    seen.push(await look[what](frame))
    frame.remove()
  }
  document.getElementById("seen").textContent = JSON.stringify(seen)
}
seeAll(%s, %s)
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    driver = ""

    def do_GET(self):
        if self.path != "/driver":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        return self.wfile.write(self.driver.encode())

    def log_message(self, *args):
        pass


@pytest.fixture
def see():
    """What the browser sees on pages of the site: `see(what, [(address, width), ...])`."""

    def see(what, pages):
        Handler.driver = DRIVER % (json.dumps(what), json.dumps(pages))
        handler = functools.partial(Handler, directory=str(SITE))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page = browser.browse(f"http://127.0.0.1:{server.server_port}/driver", "--dump-dom", seconds=SECONDS)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        return json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', page, re.DOTALL)[1]))

    return see


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("save model", "guides/saving"),
        ("retracing", "guides/functions"),
        ("GPU", "guides/devices"),
        ("convert to PyTorch", "guides/pytorch"),
        ("TF_CONFIG", "guides/machines"),
    ],
)
def test_search_leads_newcomers_to_the_guide(see, words, page):
    [results] = see("results", [(f"/search.html?q={words.replace(' ', '+')}", 1400)])
    assert any(link.startswith(f"{page}.html") for link in results[:3]), results[:5]


@pytest.mark.parametrize("width", [1400, 400])
def test_no_page_is_wider_than_the_window(see, width):
    pages = [str(p.relative_to(SITE)) for p in sorted(SITE.rglob("*.html")) if "_static" not in p.parts]
    wide = see("overflow", [(f"/{page}", width) for page in pages])
    assert {page: pixels for page, pixels in zip(pages, wide, strict=True) if pixels > 0} == {}


def test_the_page_of_summaries_has_a_picture_of_tensorboard():
    page = (SITE / "tutorial" / "8-summaries.html").read_text(encoding="utf-8")
    picture = SITE / "_images" / re.search(r'src="\.\./_images/([^"]+\.png)"', page)[1]
    assert picture.stat().st_size > 20_000  # an empty page has fewer bytes
