"""Seeds one-line bugs, and runs the tests that `dev.py test FILE` picks for the file: how many bugs do they find?

    python scripts/mutants.py --draws 200 --seed 7 --outside src/tapeflow/graph
    python scripts/mutants.py --draws 20 --files src/tapeflow/data/transformations
    python scripts/mutants.py --draws 30 --changed origin/main

A bug is a change of one expression in a copy of the tree: another operator, comparison, constant, axis, default or
unit, swapped arguments, a `not`, a condition, a lock, a `.copy()` or a `keepdims` dropped, a result not returned. The
kinds are drawn by the root of their number: rare ones occur, too. A bug is killed if a test fails or does not end, but
passes without the bug after the same tests: others are left out. A bug that survives is printed. `tests/survivors.txt`
explains survivors that no test can or should kill.

Some changes have no effect that a user relies on. These are not drawn:

- docstrings, annotations, `TYPE_CHECKING`, overloads, `__repr__` and `__str__`;
- words: strings, and all inside `raise`, `invalid(...)`, `warn(...)` and calls of a logger;
- speed: constants in capitals, comparisons with them or their multiples, names of sizes of caches, buffers, chunks and
  pools; `maxsize`, `stacklevel`, `slots`, `non_blocking`, `daemon`, `memory_format`; `lru_cache`;
- sums and products of strings, unions of types, `is` between types;
- swapped arguments of sums, products, maxima and other commutative functions;
- `strict=` of `zip`, which asserts, and a returned `False` as None;
- functions that only raise, or return by their names a repr, a hash or the text of a message.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import dataclasses
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import pytest

import affected_tests

ROOT = pathlib.Path(__file__).resolve().parent.parent
SURVIVORS = ROOT / "tests" / "survivors.txt"
MEMORY, SECONDS = 12 << 30, 120  # bytes of addresses and processor time of a run
IDLE = 30  # seconds of the clock without computing, after which tests are said to wait for ever
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*",
    ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
UNITS = {1000, 1e-3, 10**6, 1e6, 1e-6, 10**9, 1e9, 1e-9, 60, 3600, 86400, 1024, 1 << 20}
AXES = {"axis", "dim", "axes", "dims", "batch_dims", "batch_axis", "start_dim", "end_dim"}
SPEED = re.compile(r"[A-Z_\d]+|.*(cache|buffer|chunk|pool|capacity|threshold|worth|enough).*")
SPEED_ARGUMENTS = {"maxsize", "stacklevel", "slots", "non_blocking", "daemon", "memory_format", "frozen", "eq"}
WORDY = re.compile(r"invalid|warn|warning|info|debug|error|log|[A-Z]\w*(Error|Warning|Unsupported|NotStatic)")
COMMUTATIVE = re.compile(
    r"(logical_|bitwise_)?(and|or|xor)_?|f?(add|mul|ma)|multiply|(not_)?equal|max(imum)?|min(imum)?|is(instance|subclass|close)"
)
COSMETIC = re.compile(r"__(repr|str|hash|format|dir|del)__|.*(repr|describe|explain|message|summary_line|_text).*")
LOCKS = re.compile(r"(?<!b)lock|mutex|condition", re.IGNORECASE)  # no block


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A bug: other text in the place of an expression."""

    file: pathlib.Path
    kind: str
    line: int
    start: int  # bytes of the file
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """The source with the bug."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def describe(self, source: bytes) -> str:
        """A line: place, kind, old and new text, and the line of the source, without which `<` says little."""
        old = " ".join(source[self.start : self.end].decode().split())
        line = source[source.rfind(b"\n", 0, self.start) + 1 :].partition(b"\n")[0].decode().strip()
        return f"{self.file}:{self.line}: {self.kind}: `{old}` -> `{' '.join(self.text.split())}` in `{line}`"


class Seeder(ast.NodeVisitor):
    """Finds the places for bugs in a file."""

    def __init__(self, file: pathlib.Path, source: bytes) -> None:
        self.file, self.source = file, source
        self.mutants: list[Mutant] = []
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.visit(ast.parse(source))

    # ---- text ------------------------------------------------------------------------------------------------------

    def span(self, node: ast.expr) -> tuple[int, int]:
        """The bytes of an expression."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr) -> str:
        """The source of an expression."""
        start, end = self.span(node)
        return self.source[start:end].decode()

    def add(self, kind: str, node: ast.expr, text: str) -> None:
        """Adds a bug in the place of an expression."""
        self.mutants.append(Mutant(self.file, kind, node.lineno, *self.span(node), text))

    def between(self, kind: str, left: ast.expr, right: ast.expr, pattern: str, text: str) -> None:
        """Adds a bug in the place of the operator between two expressions."""
        start, end = self.span(left)[1], self.span(right)[0]
        found = re.search(pattern.encode(), self.source[start:end])
        if found:
            line = left.end_lineno or left.lineno
            self.mutants.append(Mutant(self.file, kind, line, start + found.start(), start + found.end(), text))

    # ---- left out --------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        statements = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        if COSMETIC.fullmatch(node.name) or all(isinstance(s, ast.Raise) for s in statements):
            return
        if any("overload" in ast.unparse(d) for d in node.decorator_list):
            return
        for argument, default in self.defaults(node.args):
            self.seed_default(argument, default)
        for decorator in node.decorator_list:
            self.visit(decorator)
        for statement in statements:
            self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not is_about_speed(node.target):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [n for t in node.targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
        if not any(is_about_speed(n) or (isinstance(n, ast.Name) and n.id.startswith("__")) for n in names):
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    # ---- statements --------------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return
        self.seed_condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.seed_condition(node.test)
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if LOCKS.search(last_name(item.context_expr)) and item.optional_vars is None:
                self.add("lock", item.context_expr, '__import__("contextlib").nullcontext()')
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            if not isinstance(node.value, ast.JoinedStr) and getattr(node.value, "value", True) is not False:
                self.add("return", node.value, "None")
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        swapped = {ast.Add: "-=", ast.Sub: "+=", ast.Mult: "/="}.get(type(node.op))
        if swapped and not is_text(node.value):
            self.between("operator", node.target, node.value, r"(\+|-|\*)=", swapped)  # type: ignore[arg-type]
        self.visit(node.value)

    # ---- expressions -------------------------------------------------------------------------------------------------

    def seed_condition(self, test: ast.expr) -> None:
        if not mentions_speed(test):
            self.add("condition", test, "False")

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        if not mentions_speed(node):
            other = "or" if isinstance(node.op, ast.And) else "and"
            self.between("operator", node.values[0], node.values[1], r"\b(and|or)\b", other)
            kept = self.source[self.span(node.values[0])[0] : self.span(node.values[-2])[1]].decode()
            if balanced(kept):
                self.add("condition", node, kept)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add("not", node, f"({self.text(node.operand)})")
        elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self.add("operator", node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = OPERATORS.get(type(node.op))
        if other and not is_text(node.left) and not is_text(node.right) and not is_union(node):
            self.between("operator", node.left, node.right, r"\*\*|//|<<|>>|[-+*/%&|]", other)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if not mentions_speed(node):
            other = COMPARISONS[type(node.ops[0])]
            self.between("comparison", node.left, node.comparators[0], r"is\s+not|not\s+in|is|in|[<>=!]=|[<>]", other)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        self.seed_constant("constant", node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id[:1].isupper()):  # a type
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        if WORDY.fullmatch(name) or name in ("cast", "TypeVar", "lru_cache", "NamedTuple", "getLogger"):
            return
        if name in ("copy", "clone") and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
            self.add("copy", node, self.text(node.func.value))
        plain = [a for a in node.args if not isinstance(a, (ast.Constant, ast.Starred))]
        for left, right in zip(node.args, node.args[1:], strict=False):
            if left in plain and right in plain and not COMMUTATIVE.fullmatch(name.lower()):
                start, end = self.span(left)[0], self.span(right)[1]
                middle = self.source[self.span(left)[1] : self.span(right)[0]].decode()
                if self.text(left) != self.text(right):
                    text = self.text(right) + middle + self.text(left)
                    self.mutants.append(Mutant(self.file, "arguments", left.lineno, start, end, text))
                break
        for keyword in node.keywords:
            if keyword.arg in ("keepdims", "keepdim", "keep_dims"):
                self.add("keepdims", keyword.value, "not " + f"({self.text(keyword.value)})")
            elif keyword.arg in AXES:
                self.seed_axis(keyword.value)
            elif (
                (name, keyword.arg) != ("zip", "strict")
                and keyword.arg not in SPEED_ARGUMENTS
                and not (keyword.arg and SPEED.fullmatch(keyword.arg))
            ):
                self.visit(keyword.value)
        for child in (node.func, *node.args):
            self.visit(child)

    def seed_axis(self, node: ast.expr) -> None:
        value = number_of(node)
        if value is not None:
            self.add("axis", node, {-1: "0", 0: "-1"}.get(int(value), str(int(value) - 1)))
        else:
            self.visit(node)

    def seed_constant(self, kind: str, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(kind, node, str(not value))
        elif isinstance(value, (int, float)):
            if value in UNITS:
                self.add("unit", node, "1")
            elif isinstance(value, int):
                self.add(kind, node, str(value + 1) if value < 10**6 else f"({self.text(node)} + 1)")
            elif math.isfinite(value):
                self.add(kind, node, f"({value!r} * 2)" if value else "1.0")

    def defaults(self, arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
        """Yields the parameters with defaults."""
        positional = [*arguments.posonlyargs, *arguments.args]
        given = positional[len(positional) - len(arguments.defaults) :]
        pairs = [*zip(given, arguments.defaults, strict=True)]
        pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
        yield from ((argument.arg, default) for argument, default in pairs)

    def seed_default(self, argument: str, node: ast.expr) -> None:
        if SPEED.fullmatch(argument) or argument in SPEED_ARGUMENTS:
            return
        if argument in AXES and number_of(node) is not None:
            self.seed_axis(node)
        elif isinstance(node, ast.Constant):
            self.seed_constant("default", node)
        elif number_of(node) is not None:
            self.add("default", node, self.text(node).lstrip("-"))


def balanced(text: str) -> bool:
    """Returns True if a piece of source is an expression."""
    try:
        ast.parse(f"({text})", mode="eval")
    except SyntaxError:
        return False
    return True


def last_name(node: ast.expr) -> str:
    """The name that an expression ends with: `lock` of `self.lock`, or of `self.lock()`."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def number_of(node: ast.expr) -> float | None:
    """The number that an expression is, with a sign or without."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    return None


def is_about_speed(node: ast.expr) -> bool:
    """Returns True for a name of a threshold or a size of a cache."""
    name = last_name(node)
    return bool(name) and SPEED.fullmatch(name) is not None


def mentions_speed(node: ast.expr) -> bool:
    """Returns True for a comparison with a constant of speed, or with a multiple of it."""
    compared = (side for n in ast.walk(node) if isinstance(n, ast.Compare) for side in (n.left, *n.comparators))
    return any(
        is_about_speed(factor)
        for side in compared
        for factor in ((side.left, side.right) if isinstance(side, ast.BinOp) else (side,))
    )


def is_text(node: ast.expr) -> bool:
    """Returns True for a string."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def is_union(node: ast.BinOp) -> bool:
    """Returns True for a union of types."""
    sides = (node.left, node.right)
    return isinstance(node.op, ast.BitOr) and any(
        (isinstance(s, ast.Constant) and s.value is None) or last_name(s)[:1].isupper() for s in sides
    )


# ---- drawing ---------------------------------------------------------------------------------------------------------


def draw(mutants: list[Mutant], draws: int, seed: int) -> list[Mutant]:
    """Draws bugs, at most one for a line, each kind by the root of its number."""
    generator = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = collections.defaultdict(list)
    for mutant in mutants:
        by_kind[mutant.kind].append(mutant)
    kinds = sorted(by_kind)
    weights = [math.sqrt(len(by_kind[kind])) for kind in kinds]
    drawn: dict[tuple[pathlib.Path, int], Mutant] = {}
    for _ in range(draws * 20):
        if len(drawn) == draws:
            break
        mutant = generator.choice(by_kind[generator.choices(kinds, weights)[0]])
        drawn.setdefault((mutant.file, mutant.line), mutant)
    return list(drawn.values())


def changed_lines(revision: str) -> dict[pathlib.Path, set[int]]:
    """The lines of each file that a change touches."""
    diff = subprocess.run(
        ["git", "diff", "-U0", "--no-color", revision, "--", "src"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines: dict[pathlib.Path, set[int]] = collections.defaultdict(set)
    file = None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = pathlib.Path(line[6:])
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            assert file is not None
            first, count = int(found[1]), int(found[2] or 1)
            lines[file] |= set(range(first, first + count))
    return lines


def source_files(args: argparse.Namespace) -> list[pathlib.Path]:
    """The files to change, relative to the tree."""
    roots = [ROOT / f for f in args.files] or [ROOT / "src"]
    files = sorted({p for root in roots for p in ([root] if root.is_file() else root.rglob("*.py"))})
    relative = [p.relative_to(ROOT) for p in files]
    inside = [p for p in relative if not args.inside or p.is_relative_to(args.inside)]
    return [p for p in inside if not args.outside or not p.is_relative_to(args.outside)]


# ---- running ---------------------------------------------------------------------------------------------------------


def copy_tree(folder: pathlib.Path) -> None:
    """Copies the files that git knows or would take."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)


class Choice:
    """A plugin that leaves out tests, ends after the test `last`, and writes the test that runs to a file."""

    def __init__(self, left_out: set[str], last: str | None, running: pathlib.Path) -> None:
        self.left_out, self.last, self.running = left_out, last, running
        running.write_text("")

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        yield
        kept = [item for item in items if item.nodeid not in self.left_out]
        if self.last is not None:
            kept = kept[: next((i + 1 for i, item in enumerate(kept) if item.nodeid == self.last), 0)]
        items[:] = kept

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running.write_text(nodeid)


def run_tests(
    folder: pathlib.Path, file: pathlib.Path, limit: float, left_out: set[str], last: str | None = None
) -> tuple[str, str, str]:
    """Runs the tests of a file in a forked process, but for those left out, and at most until the last.

    The process has the packages imported that do not belong to the tree, and the index of all tests.

    Returns:
        "killed", "survived" or "timeout", the output, and the test that ran at the end.
    """
    log, running = folder / "log.txt", folder / "running.txt"
    choice = Choice(left_out, last, running)
    child = os.fork()
    if not child:
        os.setsid()
        with open(log, "wb") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        import resource  # which Windows lacks, as it does forks

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        status = 3
        try:
            options = ["-x", "-q", "-n0", "--tb=line", "--no-header", "-p", "no:cacheprovider"]
            status = int(pytest.main([f"--of={folder / file}", *options], plugins=[choice]))
        finally:
            os._exit(status)
    until, last, since = time.monotonic() + limit, 0, time.monotonic()
    outcome = "timeout"
    signal.signal(signal.SIGTERM, lambda *_: (os.killpg(child, signal.SIGKILL), sys.exit(1)))
    while time.monotonic() < min(until, since + IDLE):
        ticks = processor_ticks(child)
        if not last <= ticks < last + 20:  # threads that wait with a timeout compute a little
            last, since = ticks, time.monotonic()
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            outcome = "survived" if code in (0, 5) else "timeout" if code == -signal.SIGXCPU else "killed"
            break
        time.sleep(0.2)
    with contextlib.suppress(ProcessLookupError):  # processes of the tests end, too
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
    return outcome, log.read_text(errors="replace"), running.read_text()


def processor_ticks(session: int) -> int:
    """The processor time that the processes of a session, and those that they waited for, have used."""
    total = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                total += sum(map(int, fields[11:15]))
    return total


def recorded_survivors() -> dict[str, str]:
    """The survivors on record, with reasons: each line is `place: kind: change  # reason`, without line numbers."""
    lines = SURVIVORS.read_text().splitlines() if SURVIVORS.exists() else []
    return dict(line.split("  # ", 1) for line in lines if "  # " in line and not line.startswith("#"))  # type: ignore[misc]


def unnumbered(description: str) -> str:
    """A description without its line number, which moves."""
    return re.sub(r":\d+:", ":", description, count=1)


def try_mutants(mutants: list[Mutant], limit: float) -> dict[str, list[Mutant]]:
    """Runs the tests for each bug, and prints the outcome."""
    known = recorded_survivors()
    left_out: dict[pathlib.Path, set[str]] = collections.defaultdict(set)
    outcomes: dict[str, list[Mutant]] = collections.defaultdict(list)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = pathlib.Path(name).resolve()
        copy_tree(folder)
        prepare(folder)
        for number, mutant in enumerate(mutants, 1):
            source, began = (folder / mutant.file).read_bytes(), time.monotonic()
            outcome, log = judge(folder, mutant, number, limit, left_out[mutant.file])
            description = mutant.describe(source)
            if outcome == "survived" and unnumbered(description) in known:
                outcome = "recorded"
            outcomes[outcome].append(mutant)
            print(f"{outcome:9} {time.monotonic() - began:4.0f}s {description}", flush=True)
            if outcome == "recorded":
                print(f"          because {known[unnumbered(description)]}")
            else:
                print(f"          {killer(log) if outcome == 'killed' else last_lines(log)}", flush=True)
    return outcomes


def judge(folder: pathlib.Path, mutant: Mutant, number: int, limit: float, left_out: set[str]) -> tuple[str, str]:
    """The outcome and the output of the tests with a bug. Adds tests that fail without it to those left out."""
    path = folder / mutant.file
    source = path.read_bytes()
    while True:
        write_source(path, mutant.apply(source), number)
        try:
            outcome, log, last = run_tests(folder, mutant.file, limit, left_out)
        finally:
            write_source(path, source, -number)
        if outcome == "survived":
            return outcome, log
        without, output, failed = run_tests(folder, mutant.file, limit, left_out, last)
        if without == "survived":
            return outcome, log
        print(f"{'left out':9} {failed or 'all tests'}: {without} without a bug, too", flush=True)
        if not failed:
            return "untested", output
        left_out.add(failed)


def write_source(path: pathlib.Path, source: bytes, number: int) -> None:
    """Writes a file with a time of its own, by which Python tells compiled files of other contents."""
    path.write_bytes(source)
    os.utime(path, (10**9 + number * 10,) * 2)


def killer(log: str) -> str:
    """The test that found a bug."""
    found = re.findall(r"^(?:FAILED|ERROR) (.*)", log, re.MULTILINE)
    return found[0][:150] if found else " ".join(log.split())[-150:]


def last_lines(log: str) -> str:
    """How many tests ran, and how many were left out."""
    return " ".join(line for line in log.splitlines()[-3:] if re.search(r"passed|left out", line))


def prepare(folder: pathlib.Path) -> None:
    """Imports the packages that all runs need, and reads the source and the tests of the copy."""
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder / "src")
    os.environ["TAPEFLOW_CACHE_DIR"] = str(folder / "cache")
    os.environ["TMPDIR"] = str(folder / "tmp")
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    (folder / "tmp").mkdir()
    tempfile.tempdir = None
    sys.dont_write_bytecode = False
    sys.path[:] = [str(folder / "src"), *(p for p in sys.path if p not in (str(ROOT / "src"), str(ROOT / "scripts")))]
    affected_tests.ROOT = folder
    affected_tests.read_tests()
    affected_tests.users_by_word()
    import llvmlite.binding
    import ml_dtypes
    import numpy
    import torch

    print(f"# numpy {numpy.__version__}, torch {torch.__version__}, pytest {pytest.__version__}", flush=True)
    del llvmlite, ml_dtypes


def main() -> int:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", nargs="*", default=[], help="files and folders; all of src by default")
    parser.add_argument("--inside", help="only files in this folder")
    parser.add_argument("--outside", help="no files in this folder")
    parser.add_argument("--changed", metavar="REVISION", help="only lines that differ from a revision")
    parser.add_argument("--only", metavar="KIND", help="only this kind of bug")
    parser.add_argument("--skip", type=int, default=0, help="draws to leave out: to go on where a run ended")
    parser.add_argument("--limit", type=float, default=900, help="seconds of the clock for the tests of a file")
    parser.add_argument("--list", action="store_true", help="print the draws without running tests")
    args = parser.parse_args()

    changed = changed_lines(args.changed) if args.changed else None
    mutants = [
        mutant
        for file in source_files(args)
        for mutant in Seeder(file, (ROOT / file).read_bytes()).mutants
        if (changed is None or mutant.line in changed.get(file, ())) and args.only in (None, mutant.kind)
    ]
    drawn = draw(mutants, args.draws, args.seed)[args.skip :]
    if args.list:
        for mutant in drawn:
            print(mutant.describe((ROOT / mutant.file).read_bytes()))
        print(len(mutants), collections.Counter(m.kind for m in mutants))
        return 0
    outcomes = try_mutants(drawn, args.limit)
    found = len(outcomes["killed"]) + len(outcomes["timeout"])
    counts = ", ".join(f"{len(of)} {outcome}" for outcome, of in sorted(outcomes.items()) if of)
    print(f"{len(drawn)} of {len(mutants)} bugs drawn: {counts}; {found / max(1, len(drawn)):.0%} found")
    for kind, count in sorted(collections.Counter(m.kind for m in outcomes["survived"]).items()):
        print(f"    {count} survived of {sum(m.kind == kind for m in drawn)}: {kind}")
    return bool(outcomes["survived"])


if __name__ == "__main__":
    sys.exit(main())
