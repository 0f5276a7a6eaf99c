"""Golden cases: pieces of TensorFlow code whose results under the real TensorFlow are on record.

A file `cases_<group>.py` beside this one makes a `Group` and fills it with text:

    GROUP = Group()
    GROUP.values('''
    tf.abs([-1, 2])
    tf.abs(-1.5)
    ''')
    GROUP.errors('''
    tf.abs("text")
    ''')

Each line is one case, and its own title. `scripts/record.py goldens` runs the cases under TensorFlow and writes what
came out to `recorded/<group>.json`; `tests/test_goldens.py` runs the same text with `tf` bound to TapeFlow and
compares. Each case starts in a fresh namespace with `tf`, `np`, `tmp` (the path of an empty folder) and what the
group's prelude defines; a group of random cases sets the seed there.
"""

import ast
import contextlib
import dataclasses
import functools
import hashlib
import importlib
import itertools
import linecache
import pathlib
import warnings
from typing import Any

import numpy as np

FOLDER = pathlib.Path(__file__).parent
# What preludes define that several groups need.
GRADIENTS = """
def {name}(f, *xs):
    xs = [tf.convert_to_tensor(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)
"""
GRADIENTS_OF_SECOND_ORDER = """
def grad(f, *xs):
    xs = [tf.convert_to_tensor(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    g = tape.gradient(y, xs)
    return g[0] if len(g) == 1 else g

def grad2(f, x):
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)
"""

# Integers in no order; gradients; static shapes; functions of tensors whose sizes are not static; functions of batches.
AT_LIMITS = """
R = tf.raw_ops
nan, inf = float("nan"), float("inf")
def whole(*shape, dtype=tf.int32):
    return tf.cast(tf.reshape(tf.range(int(np.prod(shape))), shape) * 7 % 11 - 4, dtype)
def floats(*shape):
    return whole(*shape, dtype=tf.float32)
def grad(f, *xs):
    xs = [tf.convert_to_tensor(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(y, xs)]
def rule(f, *specs):
    specs = [s if isinstance(s, tf.TensorSpec) else tf.TensorSpec(s, tf.int32) for s in specs]
    return tf.function(f).get_concrete_function(*specs).output_shapes
def sized(f, *xs, rank=True):
    xs = [tf.convert_to_tensor(x) for x in xs]
    specs = [tf.TensorSpec([None] * len(x.shape) if rank else None, x.dtype) for x in xs]
    return tf.function(f, input_signature=specs)(*xs)
def unranked(f, *xs):
    return sized(f, *xs, rank=False)
def mapped(f, *xs):
    return tf.vectorized_map(lambda args: f(*args), tuple(tf.convert_to_tensor(x) for x in xs))
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """One piece of code and how its result is to be compared.

    Attributes:
        title: What the case is called: the code itself where it fits in a line.
        source: Statements that end in an expression.
        prelude: Statements that run first, shared by the group.
        raises: Whether the code raises an error; the error's class is compared.
        message: Whether the first line of the error's message is compared, too.
        values: Whether values are compared; otherwise only structure, dtypes and shapes are.
        rtol, atol: Tolerances where they exceed the usual ones for the dtype.
    """

    title: str
    source: str
    prelude: str = ""
    raises: bool = False
    message: bool = False
    values: bool = True
    rtol: float | None = None
    atol: float | None = None

    @property
    def hash(self) -> str:
        """Changes with the code, so that a record of other code shows."""
        return hashlib.sha256(f"{self.prelude}\0{self.source}".encode()).hexdigest()[:10]

    def run(self, tf: Any, tmp: str) -> Any:
        """What the code's last expression gives, with `tf` as TensorFlow. Relative paths are in the folder `tmp`."""
        namespace = {"tf": tf, "np": np, "tmp": tmp, "__name__": "golden"}
        exec(_compiled(self.prelude), namespace)
        name = f"<{self.title}>"
        # AutoGraph reads the source of functions there.
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        statements = ast.parse(self.source)
        expression = ast.Expression(statements.body.pop().value)
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.chdir(tmp):
            warnings.simplefilter("ignore")
            exec(compile(statements, name, "exec"), namespace)
            return eval(compile(expression, name, "eval"), namespace)


@functools.cache
def _compiled(prelude: str) -> Any:
    return compile(prelude, "<prelude>", "exec")


class Group:
    """The cases of one file, in order."""

    def __init__(self, prelude: str = ""):
        self.prelude = prelude
        self.cases: dict[str, Case] = {}

    def values(self, text: str, *, rtol: float | None = None, atol: float | None = None, because: str = "") -> None:
        """Adds cases whose results are compared, one in each line.

        Args:
            text: The expressions; empty lines and comments are skipped.
            rtol: A tolerance beyond the dtype's usual one.
            atol: The same, absolute.
            because: Why the usual tolerance won't do.
        """
        assert bool(because) == (rtol is not None or atol is not None), "a tolerance of its own needs a reason"
        self._add_lines(text, rtol=rtol, atol=atol)

    def errors(self, text: str, *, message: bool = False) -> None:
        """Adds cases that raise an error, one in each line; its message is compared where `message` says so."""
        self._add_lines(text, raises=True, message=message)

    def shapes(self, text: str) -> None:
        """Adds cases of which only structure, dtypes and shapes are compared: what is random or open to choice."""
        self._add_lines(text, values=False)

    def snippets(self, text: str, **options: Any) -> None:
        """Adds cases of several lines that end in an expression, each under a comment that is its title.

        Empty lines stand between the cases. The options are those of `Case`.
        """
        for block in text.strip().split("\n\n"):
            title, _, source = block.strip().partition("\n")
            assert title.startswith("# "), f"a snippet begins with a comment that names it, not {title!r}"
            self._add(Case(title[2:], source, self.prelude, **options))

    def family(self, pattern: str, *, raises: bool = False, **choices: Any) -> None:
        """Adds a case for each combination of choices, filled into the pattern as `str.format` does.

        A choice is a list, or a text whose words are the list, or whose lines are where it has several. The options of
        `values` and of `Case` aren't choices.
        """
        options = {key: choices.pop(key) for key in ("rtol", "atol", "values") if key in choices}
        choices.pop("because", None)
        lists = [_words(choice) if isinstance(choice, str) else choice for choice in choices.values()]
        for combination in itertools.product(*lists):
            line = pattern.format(**dict(zip(choices, combination, strict=True)))
            self._add(Case(line, line, self.prelude, raises=raises, **options))

    def _add_lines(self, text: str, **options: Any) -> None:
        for line in map(str.strip, text.splitlines()):
            if line and not line.startswith("#"):
                self._add(Case(line, line, self.prelude, **options))

    def _add(self, case: Case) -> None:
        assert case.title not in self.cases, f"there are two cases {case.title!r}"
        assert isinstance(ast.parse(case.source).body[-1], ast.Expr), f"{case.title!r} doesn't end in an expression"
        self.cases[case.title] = case


def _words(text: str) -> list[str]:
    return text.strip().split("\n") if "\n" in text else text.split()


def group_names() -> list[str]:
    """The groups there are, sorted."""
    return sorted(path.stem.removeprefix("cases_") for path in FOLDER.glob("cases_*.py"))


def load(name: str) -> Group:
    """The group of this name."""
    return importlib.import_module(f"goldens.cases_{name}").GROUP


def record_path(name: str) -> pathlib.Path:
    """Where the results of the group of this name are on record."""
    return FOLDER / "recorded" / f"{name}.json"
