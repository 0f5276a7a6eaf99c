"""Picks the tests that can fail when a source file breaks: `dev.py test src/tapeflow/math/segment.py` runs them.

A test is picked for one of these reasons, in this order:

1. Its file mirrors the source file: `tests/math/test_segment*.py`, or is a table of a folder around the file:
   `tests/graph/test_compiled_programs.py` for all files in `graph/`. Or its file imports the module. It is an example
   in a docstring of the file.
2. It names a declaration of the file: a function, class, method, or the registered name of an op. Parameters of
   a test count, so rows of the op table, goldens with the helpers that they call, and examples in docstrings are
   picked one by one.
3. It names a function that uses these declarations, up to four calls away. The further, the later it runs.
4. It is in the folder that mirrors the file's folder.

Names count less if many tests have them. Everything is read from the source: no test and no module is imported.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools
import itertools
import math
import pathlib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORD = re.compile(r"[A-Za-z_]\w{2,}")
STEPS = 4  # between a declaration and the function that a test names
DECAY = 0.3  # of a name's weight with each step
MOST = 400  # declarations
MOST_FUNCTIONS, MOST_FILES = 300, 32  # of tests
FEW, MANY = 8, 400  # parameters: of more than a few, those that name something, and at most so many
EVERYWHERE = ("test_layers.py", "test_docs.py", "test_fixtures.py", "test_site.py", "test_examples.py", "test_soak.py")
OP_TABLES = ("test_ops.py", "core/ops/test_traits.py", "graph/compiler/test_elements.py")  # tests of all ops, by name
ROOM_TABLES = ("graph/test_compiled_programs.py",)  # of all files in a folder
TABLES = (*OP_TABLES, *ROOM_TABLES, "test_goldens.py", "test_signatures.py", "test_recorded_calls.py")
LEAST = 0.02  # the score of a test, below which it is not picked
PROCESSES = {"subprocess", "Popen", "multiprocessing", "fork"}  # tests with these are slow, and run last


@dataclasses.dataclass(eq=False)
class Declaration:
    """A function, method, class or constant of a file.

    Attributes:
        names: its name, and its registered names if it is an op.
        words: the names in its source.
    """

    file: pathlib.Path
    names: set[str]
    words: set[str]


def words_of(text: str) -> set[str]:
    """The names in a text."""
    return set(WORD.findall(text))


def parse(path: pathlib.Path) -> tuple[ast.Module, list[str]]:
    """A file's tree and lines."""
    text = path.read_text(encoding="utf-8")
    return ast.parse(text), text.splitlines()


def source_of(node: ast.stmt, lines: list[str]) -> str:
    """The lines of a statement, its decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return "\n".join(lines[first - 1 : node.end_lineno])


def without_docstring(node: ast.AST, lines: list[str]) -> str:
    """The lines of a declaration but for its docstring, whose words are prose."""
    text = source_of(node, lines)  # type: ignore[arg-type]
    docstring = ast.get_docstring(node, clean=False) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else None
    return text.replace(docstring, "") if docstring else text


# ---- the source ------------------------------------------------------------------------------------------------------


@functools.cache
def read_source() -> tuple[dict[pathlib.Path, list[Declaration]], dict[pathlib.Path, set[str]]]:
    """The declarations of each file in `src/`, and the modules that it imports."""
    declared: dict[pathlib.Path, list[Declaration]] = {}
    imports = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree, lines = parse(path)
        declared[path] = list(declarations(path, tree, lines))
        imports[path] = imported_modules(tree)
    return declared, imports


def declarations(path: pathlib.Path, tree: ast.Module, lines: list[str]) -> Iterator[Declaration]:
    """Yields the declarations of a module."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            text = without_docstring(node, lines)
            yield Declaration(path, {node.name, *registered_names(node)}, words_of(text))
        elif isinstance(node, ast.ClassDef):
            methods = [m for m in node.body if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef))]
            for method in methods:
                own = method.name if not method.name.startswith("__") else node.name
                yield Declaration(path, {own}, words_of(without_docstring(method, lines)) | {node.name})
            rest = [source_of(m, lines) for m in node.body if m not in methods]
            header = "\n".join(source_of(d, lines) for d in [*node.decorator_list, *node.bases])  # type: ignore[list-item]
            yield Declaration(path, {node.name, *registered_names(node)}, words_of("\n".join([header, *rest])))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            yield Declaration(path, names, words_of(source_of(node, lines)))


def registered_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[str]:
    """The names of ops in a function's decorators; of a gradient, that of its op's function."""
    found = {
        n.value
        for d in node.decorator_list
        for n in ast.walk(d)
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }
    found |= (
        {n.id for d in node.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}
        if node.name == "_"
        else set()
    )
    return {name for name in found if WORD.fullmatch(name)}


def imported_modules(tree: ast.Module) -> set[str]:
    """The dotted names of the modules that a file imports, or imports something of."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def module_name(path: pathlib.Path) -> str:
    """The dotted name of a file in `src/`."""
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def users_by_word() -> tuple[dict[str, list[Declaration]], collections.Counter[str]]:
    """The declarations in `src/` that have each word, and how many declare each name."""
    users = collections.defaultdict(list)
    owners: collections.Counter[str] = collections.Counter()
    for found in read_source()[0].values():
        for declaration in found:
            owners.update(declaration.names)
            for word in declaration.words:
                users[word].append(declaration)
    return users, owners


def weigh_names(file: pathlib.Path) -> dict[str, float]:
    """The names of tests that reach the file: 1 for its declarations, less for their users."""
    declared, imports = read_source()
    users, owners = users_by_word()
    weights: dict[str, float] = {}
    seen, frontier, weight = set(map(id, declared[file])), list(declared[file]), 1.0
    for _ in range(STEPS):
        for declaration in frontier:
            for name in declaration.names:
                weights.setdefault(name, weight)
        following = []
        for declaration in frontier:
            module = module_name(declaration.file)
            for name in sorted(declaration.names):
                for user in users.get(name, []):
                    known = user.file == declaration.file or module in imports[user.file] or owners[name] <= 2
                    if known and id(user) not in seen and len(seen) < MOST:
                        seen.add(id(user))
                        following.append(user)
        frontier, weight = following, weight * DECAY
    return {name: weight for name, weight in weights.items() if WORD.fullmatch(name)}


# ---- the tests -------------------------------------------------------------------------------------------------------


@functools.cache
def read_tests() -> tuple[dict[tuple[pathlib.Path, str], set[str]], dict[pathlib.Path, set[str]]]:
    """The words of each test function, its helpers in the same file included, and the modules of each file."""
    words, imports = {}, {}
    shared = {
        path.stem: words_of(path.read_text(encoding="utf-8")) for path in (ROOT / "tests" / "support").glob("*.py")
    }
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if {"fixtures", "support"} & set(path.relative_to(ROOT).parts):
            continue
        tree, lines = parse(path)
        imports[path] = imported_modules(tree)
        parts: dict[str, set[str]] = {}
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    module = node.module if isinstance(node, ast.ImportFrom) else alias.name
                    parts[alias.asname or alias.name] = (
                        shared.get(module or "", set()) if module != "op_table" else set()
                    )
            parts |= dict.fromkeys(defined_names(node), words_of(source_of(node, lines)))
        for name in parts:
            if name.startswith(("test", "Test")):
                words[path, name] = closure(name, parts)
    return words, imports


def defined_names(node: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


@functools.cache
def prelude_words(prelude: str) -> dict[str, set[str]]:
    """The words of each name that the prelude of goldens defines."""
    lines = prelude.splitlines()
    return {name: words_of(source_of(s, lines)) for s in ast.parse(prelude).body for name in defined_names(s)}


def closure(name: str, parts: dict[str, set[str]]) -> set[str]:
    """The words of a function and its helpers in the same file."""
    found: set[str] = set()
    todo, seen = [name], {name}
    while todo:
        part = parts[todo.pop()]
        found |= part
        more = {word for word in part if word in parts} - seen
        seen |= more
        todo.extend(more)
    return found


def rarity() -> collections.Counter[str]:
    """In how many test functions each word occurs."""
    counts: collections.Counter[str] = collections.Counter()
    for words in read_tests()[0].values():
        counts.update(words)
    return counts


class Picked:
    """The tests of a source file.

    Attributes:
        functions: a rank for each `(file, function)`: the lowest runs first.
        names: the weights of names in parameters.
        declared: the names of the file's declarations.
    """

    def __init__(self, file: pathlib.Path) -> None:
        self.file = file.resolve()
        module, (words, imports) = module_name(self.file), read_tests()
        counts = rarity()
        weights = weigh_names(self.file)
        self.declared = sorted(name for name, weight in weights.items() if weight == 1)
        self.names = {name: weight / math.sqrt(1 + counts[name]) for name, weight in weights.items()}
        self.own: set[tuple[pathlib.Path, str]] = set()
        mirror = (ROOT / "tests").joinpath(*self.file.relative_to(ROOT / "src").parts[1:])
        stem = mirror.stem if mirror.stem != "__init__" else mirror.parent.name
        # Tests beside all rooms, such as `test_loading.py`, are not those of a file in a room.
        above = mirror.parent.parent != ROOT / "tests" or mirror.stem == "__init__"
        beside = (mirror.parent, mirror.parent.parent) if above else (mirror.parent,)
        room = next(folder for folder in mirror.parents if folder.is_dir())
        rooms = {f"test_{part}.py" for part in mirror.relative_to(ROOT / "tests").parts[:-1]}
        has_ops = any(name[0].isupper() for d in read_source()[0][self.file] for name in d.names if len(d.names) > 1)
        tables = {path for path, _ in words if is_table(path, ROOM_TABLES) and path.parent in mirror.parents}
        ranks = {}
        for key, found in words.items():
            path, score = key[0], self.score(found)
            if path.parent == ROOT / "tests" and path.name in EVERYWHERE:
                continue
            near = path.name in rooms or (room != ROOT / "tests" and path.is_relative_to(room))
            if path.parent in beside and mirrors(path.stem, stem):
                self.own.add(key)
                ranks[key] = -4 - score
            elif path in tables:
                self.own.add(key)
                ranks[key] = -3.99
            elif module in imports[path]:
                ranks[key] = -3 - score
            elif path == ROOT / "tests" / "test_docstrings.py":  # which has the examples of the file
                ranks[key] = -2.6
            elif is_table(path):  # whose parameters decide
                late = is_table(path, OP_TABLES) or (tables and path.name == "test_goldens.py")
                ranks[key] = -0.5 if late and not has_ops else -2.5
            elif near:
                ranks[key] = -0.4 - score
            elif score > LEAST:
                ranks[key] = -score
        best = sorted(ranks, key=ranks.__getitem__)[:MOST_FUNCTIONS]
        files = list(dict.fromkeys(path for path, _ in best))[:MOST_FILES]
        slow = {key: 0.6 if key in self.own else 0.01 for key in best if PROCESSES & words[key]}
        self.functions = {key: ranks[key] * slow.get(key, 1.0) for key in best if key[0] in files}

    def score(self, words: Iterable[str]) -> float:
        """How likely a test with these words is to fail: names count as if they were independent."""
        found = sorted(self.names.keys() & words)  # in one order, so that all processes round alike
        return 1 - math.prod(1 - min(0.9, self.names[word]) for word in found)

    def files(self) -> list[pathlib.Path]:
        """The files of the tests, the likeliest to fail first."""
        return list(dict.fromkeys(path for path, _ in sorted(self.functions, key=self.functions.__getitem__)))

    def rank(self, path: pathlib.Path, function: str) -> float | None:
        """The rank of a test function, or None if it is not picked."""
        return self.functions.get((path, function))

    def parameters(self, path: pathlib.Path, function: str, values: list[Any]) -> list[int]:
        """The indices of a test's parameters that can fail."""
        if (path, function) in self.own or len(values) <= FEW:
            return list(range(len(values)))
        words = [words_of(described(value)) for value in values]
        scores = [self.score(found) for found in words]
        least = max(LEAST, max(scores) / 10)
        best = sorted((i for i, score in enumerate(scores) if score > least), key=lambda i: -scores[i])
        chosen = dict.fromkeys([*self.in_turn(words)[: MANY // 2], *best])
        return sorted(list(chosen)[:MANY]) or list(range(0 if is_table(path) else FEW))

    def in_turn(self, words: list[set[str]]) -> list[int]:
        """The indices of parameters that name a declaration: one of each in turn, those of few words first, then those
        that add no words, such as options, to those before."""
        groups = []
        for name in self.declared:
            naming = (i for i, found in enumerate(words) if name in found)
            seen: set[str] = set()
            adding, others = [], []
            for i in sorted(naming, key=lambda i: len(words[i])):
                (others if words[i] <= seen else adding).append(i)
                seen |= words[i]
            groups.append(adding + others)
        turns = itertools.chain.from_iterable(itertools.zip_longest(*groups))
        return list(dict.fromkeys(i for i in turns if i is not None))


def is_table(path: pathlib.Path, tables: Collection[str] = TABLES) -> bool:
    """Returns True if a file of tests is one of `tables`."""
    return path.relative_to(ROOT / "tests").as_posix() in tables


def mirrors(stem: str, source: str) -> bool:
    """Whether a test file has a source file's name."""
    return re.fullmatch(rf"test_{re.escape(source.strip('_'))}s?(_.*)?", stem) is not None


def described(value: Any) -> str:
    """A parameter as text: names and sources in it."""
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return " ".join(
            described(v) for v in (value if len(value) < MANY or isinstance(value[0], str) else value[:FEW])
        )
    if callable(value) and hasattr(value, "__code__"):
        return " ".join((value.__name__, *value.__code__.co_names))
    if prelude := getattr(value, "prelude", ""):  # a golden's, with the functions that its source calls
        return " ".join(closure("", {**prelude_words(prelude), "": words_of(f"{value.title} {value.source}")}))
    return " ".join(
        str(getattr(value, name)) for name in ("name", "source", "title", "__name__") if hasattr(value, name)
    )
