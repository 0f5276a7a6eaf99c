"""Public functions say what they take, give and raise, and programs of pages run."""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import sys
import textwrap
import types
from xml.etree import ElementTree

import pytest

import blocks
import differences
import drawings
import notebooks
import reference
import tapeflow as tf

# ---- what docstrings hold -------------------------------------------------------------------------------------------

ROOT = pathlib.Path(tf.__file__).parent
SOURCE = ROOT.parent
ALL_FILES = sorted(p for package in ("tapeflow", "tapeflow_compat") for p in (SOURCE / package).rglob("*.py"))
FILES = [p for p in ALL_FILES if "compat" not in p.relative_to(SOURCE).parts]


def public_values():
    """Yields each class and function of the reference that is defined here, with the first of its names."""
    modules, seen = dict(reference.namespaces(tf, "tf")), set()
    for path, module in modules.items():
        for name in reference.public(module):
            value = getattr(module, name)
            if callable(value) and id(value) not in seen and str(value.__module__) in sys.modules:
                seen.add(id(value))
                if sys.modules[value.__module__].__name__.startswith("tapeflow."):
                    yield f"{path}.{name}", value


PUBLIC = {(sys.modules[value.__module__].__file__, value.__name__): value for _, value in public_values()}
# What can't be undone, as an example would want.
WITHOUT_EXAMPLE = {"tf.experimental.numpy.experimental_enable_numpy_behavior"}


def public_functions(path):
    """The functions of a file that users call, with their docstrings."""
    for node in ast.parse(path.read_text()).body:
        is_overload = "overload" in [ast.unparse(d) for d in getattr(node, "decorator_list", [])]
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not is_overload:
            public = PUBLIC.get((str(path), node.name))
            text = (public and public.__doc__) or ast.get_docstring(node) or ""
            if public is not None or "Example:" in text:
                yield node, text


@pytest.mark.parametrize(("name", "value"), [pytest.param(n, v, id=n) for n, v in public_values()])
def test_what_is_public_has_an_example(name, value):
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    assert is_error or name in WITHOUT_EXAMPLE or ">>> " in (value.__doc__ or ""), f"{name} has no example"


def parameters(function):
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [a for a in given if a is not None and a.arg != "name"]


def raises(function):
    return any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "invalid")
        for node in ast.walk(function)
    )


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_public_functions_say_what_they_take_and_give(path):
    for function, text in public_functions(path):
        is_numpys = "as for `numpy." in text  # NumPy documents its errors
        gives_nothing = function.returns is not None and ast.unparse(function.returns) == "None"
        fails = raises(function) and not is_numpys
        expected = {"Args:": bool(parameters(function)), "Returns:": not gives_nothing, "Raises:": fails}
        missing = [section for section, wanted in expected.items() if wanted and section not in text]
        assert not missing, f"{function.name} lacks {missing}"


def test_public_parameters_are_typed():
    annotations = [a.annotation for p in FILES for f, _ in public_functions(p) for a in parameters(f)]
    untyped = [a for a in annotations if a is None or ast.unparse(a) == "Any"]
    assert len(annotations) > 1000
    assert len(untyped) < 0.1 * len(annotations)


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_summaries_do_not_begin_with_a_question(path):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(path.read_text())):
        text = ast.get_docstring(node) if isinstance(node, kinds) else None
        assert not re.match(r"(What|Whether|How|Where|Which|Who)\b", text or ""), text


# ---- pages ----------------------------------------------------------------------------------------------------------

PAGES = [
    page
    for page in [blocks.ROOT / "README.md", blocks.ROOT / "CONTRIBUTING.md", *sorted(blocks.ROOT.glob("docs/**/*.md"))]
    if blocks.BLOCK.search(page.read_text(encoding="utf-8"))
]


HAS_JUPYTER = all(map(importlib.util.find_spec, ["nbformat", "nbclient", "ipykernel"]))


# Each page runs once: those of the tutorial as notebooks, if there is Jupyter. Building the site runs them as pages.
@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if not HAS_JUPYTER or p not in notebooks.pages()],
    ids=lambda p: str(p.relative_to(blocks.ROOT)),
)
def test_programs_of_pages_run(page, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("aiohttp")
    for needed in {"lite": ["ai_edge_quantizer"], "arrow": ["pyarrow"]}.get(page.stem, ()):
        pytest.importorskip(needed)
    outputs = blocks.run(page, tmp_path)
    assert not [o.text for o in outputs if str(blocks.ROOT) in o.text or sys.prefix in o.text], "a path of this machine"
    if page.name == "README.md":  # which holds what its first program prints
        assert textwrap.indent(outputs[0].text.rstrip(), "    ") in page.read_text(encoding="utf-8")


@pytest.mark.skipif(not HAS_JUPYTER, reason="there is no Jupyter")
@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda p: p.stem)
def test_notebooks_run(page, tmp_path, monkeypatch):
    import nbclient
    import nbformat

    shutil.copytree(blocks.ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(blocks.ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    book = nbformat.from_dict(notebooks.notebook(page.read_text(encoding="utf-8")))
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(cell.get("outputs") for cell in book.cells)


def test_a_page_is_a_notebook():
    text = "# Page\nAs [told](2-next.md) and [there](../other.md).\n```python\nx = 1\n```\n```console\n$ ls\n```\n"
    book = notebooks.notebook(text)
    assert [(cell["cell_type"], cell["source"]) for cell in book["cells"]] == [
        ("markdown", f"# Page\n\n{notebooks.PLACE}"),
        ("markdown", "As [told](2-next.ipynb) and there."),
        ("code", "x = 1"),
        ("markdown", "```console\n$ ls\n```"),
    ]


def test_a_page_is_a_program(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n```python\nimport sys\nx = 1\nprint(x)\nprint('b', file=sys.stderr)\n```\ntext\n\n"
        "```console\n$ no Python\n```\n"
        "```python\nimport matplotlib.pyplot as plt\nplt.plot([x, 2])\nplt.title('A')\n```\n"
    )
    pytest.importorskip("matplotlib")
    first, second = blocks.run(page, tmp_path / "pictures")
    assert (first.text, first.pictures) == ("1\nb\n", {})
    assert (second.text, second.pictures) == ("", {"1.svg": "A"})
    assert "</svg>" in (tmp_path / "pictures" / "1.svg").read_text()
    assert blocks.below(first, "/p") == "\n\n````{code-block} text\n:class: output\n\n1\nb\n````"
    assert blocks.below(second, "/p") == "\n\n![A](/p/1.svg)"


def test_a_block_that_raises_is_named_by_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n```python\nx = 0\n```\n```python\n\n1 / x\n```\n")
    told = r'page\.md:\n.*\n  File "page\.py", line 7, in <module>\n    1 / x\n(.*\n)?ZeroDivisionError'
    with pytest.raises(blocks.PageError, match=told):
        blocks.run(page, tmp_path / "pictures")


# ---- what pages quote and draw ---------------------------------------------------------------------------------------

QUOTE = re.compile(r"^:::\{quote\} (\S+)\n((?::[\w-]+:.*\n)*):::$", re.MULTILINE)
DRAWING = re.compile(r"^:::\{drawing\} (.+)\n((?:.+\n)+?):::$", re.MULTILINE)
TEXTS = {page: page.read_text(encoding="utf-8") for page in sorted(blocks.ROOT.glob("docs/**/*.md"))}
QUOTES = [(page.stem, *match.groups()) for page, text in TEXTS.items() for match in QUOTE.finditer(text)]
DRAWINGS = [(page.stem, *match.groups()) for page, text in TEXTS.items() for match in DRAWING.finditer(text)]


@pytest.mark.parametrize(("page", "file", "lines"), QUOTES, ids=[f"{p}-{i}" for i, (p, *_) in enumerate(QUOTES)])
def test_quoted_code_is_there(page, file, lines):
    code = pytest.importorskip("sphinx.directives.code")
    options = {name: text.strip("'") for name, text in re.findall(r"^:([\w-]+): *(.+)$", lines, re.MULTILINE)}
    config = types.SimpleNamespace(source_encoding="utf-8")
    place = blocks.ROOT if file.startswith("examples/") else ROOT
    text, _ = code.LiteralIncludeReader(str(place / file), options, config).read()
    assert text.strip()


def test_the_op_of_contributing_is_quoted_from_the_source():
    text = (blocks.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    quoted = textwrap.dedent(re.search(r"^    @op\(.*\n(?:    .*\n)+", text, re.MULTILINE)[0])
    above, below = quoted.split("    ...\n")
    source = (ROOT / "bitwise" / "bits.py").read_text(encoding="utf-8")
    assert source.split(above)[1].split("\n\n\n")[0].endswith(below.rstrip())


@pytest.mark.parametrize(("page", "title", "lines"), DRAWINGS, ids=[page for page, *_ in DRAWINGS])
def test_boxes_of_drawings_do_not_overlap(page, title, lines):
    boxes, arrows = drawings.parsed(lines.splitlines())
    width, height = drawings.lay_out(boxes, arrows)
    ElementTree.fromstring(drawings.svg(title, lines.splitlines()))
    assert width < 740, "wider than a page"
    for i, a in enumerate(boxes):
        assert 0 <= a.x <= a.x + a.width <= width and 0 <= a.y <= a.y + a.height <= height
        for b in boxes[:i]:
            apart = a.x + a.width < b.x or b.x + b.width < a.x or a.y + a.height < b.y or b.y + b.height < a.y
            assert apart, (a.lines, b.lines)


def test_a_drawing_names_the_line_that_is_wrong():
    with pytest.raises(ValueError, match="a -> c"):
        drawings.parsed(["a 0 0: A", "b 1 0: B", "a -> b: to", "a -> c"])


def test_the_picture_of_the_readme_has_the_figures_of_the_tables(monkeypatch):
    monkeypatch.syspath_prepend(str(blocks.ROOT / "benchmarks"))
    import plots
    from tables import ratio

    assert plots.PICTURE.read_text(encoding="utf-8") == plots.picture(), "run benchmarks/plots.py"
    text = plots.RESULTS.read_text(encoding="utf-8")
    first = plots.groups(text, ["tensorflow", "torch"])[0]
    assert first.title == "Small ops" and len(first.ratios["tensorflow"]) == 34
    assert f"| `geometric mean` |  | {ratio(first.means['tensorflow'])} | {ratio(first.means['torch'])} |" in text


FILES_OF_THE_REPOSITORY = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benchmarks/RESULTS.md"]


@pytest.mark.parametrize("name", FILES_OF_THE_REPOSITORY)
def test_links_of_files_lead_somewhere(name):
    page = blocks.ROOT / name
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_links_of_the_site_are_checked(tmp_path):
    links = pytest.importorskip("links")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.html").write_text('<h1 id="top"></h1><a href="../c.html#here">c</a><a href="#top">t</a>')
    (tmp_path / "c.html").write_text('<p id="here"></p><a class="x" href="a/b.html#bottom">b</a><img src="no.svg">')
    assert links.broken(tmp_path) == ["c.html: a/b.html#bottom", "c.html: no.svg"]


# ---- what differs from TensorFlow -----------------------------------------------------------------------------------


def test_the_map_of_rooms_lists_each_folder():
    parts = (blocks.ROOT / "docs/how/rooms.md").read_text(encoding="utf-8").split("\n## ")
    for package, part in (("tapeflow", parts[1]), ("tapeflow_compat", parts[2])):
        folders = {p.name for p in (ROOT.parent / package).iterdir() if any(p.glob("*.py"))}
        assert set(re.findall(r"^\| `(\w+)/` ", part, re.MULTILINE)) == folders, package


BITS = (blocks.ROOT / "docs/how/equal-bits.md").read_text(encoding="utf-8")
ROWS_OF_BITS = re.findall(r"^\| `(tf.+|[xy] .+)` \| `(\w{12})` \|$", BITS, re.MULTILINE)


@pytest.mark.parametrize(("expression", "digest"), ROWS_OF_BITS)
def test_results_have_the_bits_of_tensorflow(expression, digest):
    names = {}
    exec(re.search(r"```python\n(.*?)```", BITS, re.DOTALL)[1], names)
    tf.random.set_seed(7)
    assert hashlib.sha256(eval(expression, names).numpy().tobytes()).hexdigest()[:12] == digest


def test_the_tables_of_differences_hold_what_the_tests_do():
    shown = differences.on_purpose()
    assert len(shown) == len(differences.deliberately_different()) > 0
    assert all(d.tensorflow != d.tapeflow and d.reason for d in shown)
    assert {d.tensorflow for d in shown} >= {"raises LookupError", "float16: [inf]"}
    rows = differences.table(("a", "b"), [(differences.code("x | y"), "why")])
    assert "`raises LookupError`" in differences.table_on_purpose() and "`tf.roll`" in differences.table_by_reason()
    assert rows == "| a | b |\n| :-- | :-- |\n| `x \\| y` | why |"


# ---- the reference --------------------------------------------------------------------------------------------------


def test_the_reference_documents_each_public_function_once():
    modules = dict(reference.namespaces(tf, "tf"))
    homes = reference.homes(modules)
    pages = {path: reference.page(path, module, homes, modules) for path, module in modules.items()}
    for path, module in modules.items():
        for name in reference.public(module):
            there = rf"(.. auto(class|function):: {name}|``{path}.{name}``|:doc:`{path}.{name}`)"
            assert re.search(rf"{there}(?!\w)", pages[path]), f"{path}.{name}"
    documented_names = [line for text in pages.values() for line in text.splitlines() if line.startswith(".. auto")]
    assert len(documented_names) == len(homes) > 1000
    assert homes[id(tf.add)] == "tf.math.add" and homes[id(tf.constant)] == "tf.constant"


def test_docstrings_are_marked_up_for_sphinx(monkeypatch):
    monkeypatch.setitem(reference.links, "tf.add", "tf.math.add")
    lines = [
        "Adds *args, `x`s and `e ** x`, as `tf.add` does.",
        "",
        "Returns:",
        "    A pair: the sum.",
        "",
        "    >>> f(*x)",
    ]
    reference.mark_up(None, "function", "f", None, None, lines)
    assert lines == [
        r"Adds \*args, ``x``\ s and ``e ** x``, as :py:obj:`tf.add <tf.math.add>` does.",
        "", "Returns:", "    : A pair: the sum.", "", "    >>> f(*x)",
    ]  # fmt: skip
