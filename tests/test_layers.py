"""Imports run one way: each room imports only what stands before it, inside functions too (see CONTRIBUTING.md)."""

import ast
import pathlib
import re

import pytest

import tapeflow

ROOT = pathlib.Path(tapeflow.__file__).parent
LEAF = ROOT.with_name("tapeflow_compat")  # its modules are found in `tapeflow`, too
LAYERS = [
    "core",
    "graph.ir",
    # the ops, by namespace
    "array math random linalg nn signal image strings io sparse ragged bitwise audio",
    # what is written in ops and needs graphs
    "graph autodiff control dtypes",
    "function autograph",
    # services
    "config control.critical_section control.optional data debugging distribute experimental linalg.operators lite "
    "lookup profiler saved_model serving summary sysconfig text torch tracking train transport types xla",
    "as_tensorflow graph_util install keras test torch.layer torch.commands __main__",
    # all of `tapeflow_compat`
    "compat default_graph feature_column quantization queue raw_ops rnn_cells sets tensorflow_python v1_graphs",
]
# The folders of `graph`; imports for type checkers alone count, too.
OF_GRAPHS = ["ir", "program", "compiler", "codegen", "transform", "backends graphdef"]
IN_LEAF = re.compile(rf"tapeflow(_compat$|(_compat)?\.({'|'.join(LAYERS[-1].split())})\b)")
# Public names of what core defines, and what imports nothing.
BOTTOM = {"errors", "nest", "version"}
# A package's face hands names on, from whatever file defines them.
FACES = {"linalg", "math", "nn", "random", "io", "signal", "image", "graph"}
# These are loaded for one message, or by one rarely called function of a room below.
ALLOWED = {("math.counts", "debugging.values")}


def layer_of(module):
    """The number of a module's layer; the longest name in `LAYERS` that it begins with decides."""
    if module in BOTTOM:
        return 0
    places = {name: i for i, names in enumerate(LAYERS) for name in names.split()}
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in places:
            return places[".".join(parts[:length])]
    raise AssertionError(f"{module} is in no layer: add its room to LAYERS")


def modules():
    files = {p: list(p.relative_to(r).with_suffix("").parts) for r in (ROOT, LEAF) for p in sorted(r.rglob("*.py"))}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): p for p, parts in files.items()}


def imports_of(path, known, for_types=False):
    """The modules of TapeFlow that a file imports; with `for_types`, for type checkers alone, too."""
    tree = ast.parse(path.read_text().replace("tapeflow_compat.", "tapeflow."))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not for_types
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tapeflow":
            for alias in node.names:
                full = f"{node.module}.{alias.name}".removeprefix("tapeflow.")
                yield full if full in known else node.module.removeprefix("tapeflow").lstrip(".")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "tapeflow":
                    yield alias.name.removeprefix("tapeflow").lstrip(".")


MODULES = modules()
FILES = [p for p in sorted(ROOT.rglob("*.py")) if p != ROOT / "__init__.py"]


@pytest.mark.parametrize("module", [m for m in MODULES if m and m not in FACES])
def test_imports_nothing_above_it(module):
    for other in imports_of(MODULES[module], MODULES):
        if (module, other) in ALLOWED:
            continue
        if not other:  # the whole of TapeFlow: for what is written as a user would
            assert layer_of(module) >= len(LAYERS) - 2, f"tapeflow.{module} imports tapeflow as a whole"
            continue
        assert layer_of(other) <= layer_of(module), (
            f"tapeflow.{module} imports tapeflow.{other}, which stands above it: call a registered op by "
            "`ops.Name`, move the code down, or let the higher room fill a hook (core/hooks.py)"
        )


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_table_of_names_knows_the_leaf(path):
    """No file of `tapeflow` but its `__init__` holds the name of a module of `tapeflow_compat`, imports included."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        assert not any(map(IN_LEAF.match, names)), names


def test_no_circle_is_large():
    """No more than eight files import each other in a circle, imports inside functions included."""
    arrows = {m: {o for o in imports_of(p, MODULES) if o in MODULES and o != m} for m, p in MODULES.items() if m}
    largest = max(circles(arrows), key=len)
    assert len(largest) <= 8, sorted(largest)


@pytest.mark.parametrize("module", [m for m in MODULES if re.match(r"graph\.\w+\.", m)])
def test_folders_of_graphs_import_nothing_above_them(module):
    places = {name: i for i, names in enumerate(OF_GRAPHS) for name in names.split()}
    for other in imports_of(MODULES[module], MODULES, True):
        if other.startswith("graph."):
            assert places[other.split(".")[1]] <= places[module.split(".")[1]], f"tapeflow.{module} imports {other}"


def test_graphs_have_no_circle():
    """No files of `graph` import each other in a circle, inside functions and for type checkers included.

    Graphs and operations hold each other. The machine code of loops is loaded late, because it loads LLVM.
    """
    arrows = {m: set(imports_of(p, MODULES, True)) - {m} for m, p in MODULES.items() if m.startswith("graph.")}
    for circle in circles(arrows):
        rooms = {module.split(".")[1] for module in circle}
        assert len(circle) == 1 or rooms in ({"ir"}, {"compiler"}), sorted(circle)


def circles(arrows):
    """The strongly connected components of a graph (Tarjan, 1972)."""
    index, low, stack, on_stack, components = {}, {}, [], set(), []
    for root in arrows:
        work = [] if root in index else [(root, iter(arrows[root]))]
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            for other in rest:
                if other not in arrows:
                    continue
                if other not in index:
                    work.append((other, iter(arrows[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while node not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    components.append(component)
    return components
