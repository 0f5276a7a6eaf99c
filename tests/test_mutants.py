"""`scripts/mutants.py` seeds bugs, and `scripts/affected_tests.py` picks the tests of a file."""

import ast
import pathlib
import textwrap
import types

import pytest

import affected_tests
import mutants
from goldens.case import Group

FILE = pathlib.Path("src/tapeflow/room/file.py")


def seeded(source):
    """The bugs of a source: `{(kind, source with the bug)}`."""
    encoded = textwrap.dedent(source).encode()
    found = mutants.Seeder(FILE, encoded).mutants
    changed = {(m.kind, m.apply(encoded).decode()) for m in found}
    for _, text in changed:
        ast.parse(text)
    return changed


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("operator", "é = a + b", "é = a - b"),
        ("operator", "f(-a)", "f((a))"),
        ("operator", "x = a and b", "x = a or b"),
        ("operator", "x += y", "x -= y"),
        ("comparison", "x = a <  b", "x = a <=  b"),
        ("comparison", "x = a is not b", "x = a is b"),
        ("comparison", "x = a not in b", "x = a in b"),
        ("constant", "f(3)", "f(4)"),
        ("constant", "f(True)", "f(False)"),
        ("unit", "f(1000)", "f(1)"),
        ("axis", "f(x, axis=-1)", "f(x, axis=0)"),
        ("keepdims", "f(x, keepdims=True)", "f(x, keepdims=not (True))"),
        ("default", "def f(a=2): pass", "def f(a=3): pass"),
        ("axis", "def f(axis=-1): pass", "def f(axis=0): pass"),
        ("arguments", "f(x,  y)", "f(y,  x)"),
        ("not", "g(not x)", "g((x))"),
        ("condition", "if a: b", "if False: b"),
        ("condition", "x = a and b", "x = a"),
        ("lock", "with self._lock: x", 'with __import__("contextlib").nullcontext(): x'),
        ("copy", "x = y.copy()", "x = y"),
        ("return", "def f(): return x", "def f(): return None"),
        ("return", "def f(): return True", "def f(): return None"),
    ],
)
def test_a_bug_changes_one_expression(kind, before, after):
    assert (kind, after) in seeded(before)


@pytest.mark.parametrize(
    "source",
    [
        '"""1 + 2"""',
        "def f():\n    'a docstring'\n    ...",
        "def __repr__(self): return 1 + 2",
        "raise ValueError(1 + 2)",
        "warn(1 + 2, stacklevel=2)",
        "def f(): raise ValueError(1 + 2)",
        "if TYPE_CHECKING:\n    x = 1",
        "x: Literal[1]",
        "CACHE_SIZE = 100",
        "buffer_size = 100",
        "def f(a: int | None): raise x",
        "isinstance(x, A | None)",
        "'a' + name",
        "@overload\ndef f(a=1): ...",
        "f'{1 + 2}'",
        "lru_cache(maxsize=3)",
        "zip(a, strict=True)",
        "b.mul(x, y)",
        "b.fma(x, y, z)",
        "tf.logical_and(x, y)",
        "ops.Maximum(x, y)",
    ],
)
def test_what_is_no_bug_is_not_seeded(source):
    assert not seeded(source)


def test_a_returned_false_becomes_true_alone():
    assert seeded("def f(): return False") == {("constant", "def f(): return True")}


def test_a_description_tells_a_bug_from_others_of_the_file():
    source = b"def f():\n    if a < b:\n        g(c < d)"
    texts = [m.describe(source) for m in mutants.Seeder(FILE, source).mutants if m.kind == "comparison"]
    assert texts == [
        f"{FILE}:2: comparison: `<` -> `<=` in `if a < b:`",
        f"{FILE}:3: comparison: `<` -> `<=` in `g(c < d)`",
    ]


def test_draws_follow_the_seed():
    found = mutants.Seeder(FILE, b"\n".join(b"x = f(a, b) + %d" % i for i in range(50))).mutants
    drawn = mutants.draw(found, 20, seed=3)
    assert drawn == mutants.draw(found, 20, seed=3) != mutants.draw(found, 20, seed=4)
    assert len({mutant.line for mutant in drawn}) == 20


def test_a_test_that_fails_without_the_bug_is_left_out(tmp_path, monkeypatch, capsys):
    def run(folder, file, limit, left_out, last=None):
        broken = (folder / file).read_bytes() != b"x = 1"
        fails = [t for t in ("fails", "finds") if t not in left_out and (t == "fails" or broken)]
        return ("killed", "", fails[0]) if fails else ("survived", "", "")

    monkeypatch.setattr(mutants, "run_tests", run)
    (tmp_path / "file.py").write_bytes(b"x = 1")
    left_out = set()
    bug = mutants.Mutant(pathlib.Path("file.py"), "constant", 1, 4, 5, "2")
    assert mutants.judge(tmp_path, bug, 1, 9, left_out)[0] == "killed"
    assert left_out == {"fails"} and "left out  fails: killed without a bug" in capsys.readouterr().out
    assert (tmp_path / "file.py").read_bytes() == b"x = 1"


@pytest.mark.parametrize(("last", "kept"), [(None, "acd"), ("c", "ac"), ("", "")])
def test_the_tests_that_run(tmp_path, last, kept):
    choice = mutants.Choice({"b"}, last, tmp_path / "running.txt")
    items = [types.SimpleNamespace(nodeid=name) for name in "abcd"]
    assert not list(choice.pytest_collection_modifyitems(items))[1:]
    assert [item.nodeid for item in items] == list(kept)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    files = {
        "src/tapeflow/room/file.py": '@op("Twice")\ndef twice_op(x): return helper(x)\ndef helper(x): return 2 * x',
        "src/tapeflow/room/user.py": "from tapeflow.room.file import helper\ndef four_times(x): return helper(2 * x)",
        "src/tapeflow/room/other.py": "def other(x): return x",
        "tests/room/test_file.py": "def test_all(): pass",
        "tests/room/test_more.py": "def test_more(): pass",
        "tests/far/test_far.py": "def test_four(): check(tf.four_times)\ndef test_other(): tf.other",
        "tests/far/test_through.py": "import cases\ndef test_cases(): cases.run()",
        "tests/support/cases.py": "run = tf.twice_op",
        "tests/test_ops.py": "def test_values(row): pass",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(affected_tests, "ROOT", tmp_path)
    caches = (affected_tests.read_source, affected_tests.read_tests, affected_tests.users_by_word)
    for cache in caches:
        cache.cache_clear()
    yield tmp_path
    for cache in caches:
        cache.cache_clear()


def test_tests_of_a_file(tree):
    picked = affected_tests.Picked(tree / FILE)
    ranks = {name: rank for (_, name), rank in picked.functions.items()}
    assert sorted(ranks, key=ranks.__getitem__) == ["test_all", "test_values", "test_cases", "test_more", "test_four"]
    assert picked.files()[0] == tree / "tests" / "room" / "test_file.py"


def test_the_compiled_programs_are_picked_for_all_files_below(tree, monkeypatch):
    room, name = tree / "tests" / "room", "test_compiled_programs.py"
    monkeypatch.setattr(affected_tests, "ROOM_TABLES", (f"room/{name}",))
    for folder in (room, tree / "tests" / "far"):
        (folder / name).write_text("def test_compiled(name): pass")
    picked = affected_tests.Picked(tree / FILE)
    assert [path for path, function in picked.functions if function == "test_compiled"] == [room / name]
    assert picked.parameters(room / name, "test_compiled", ["program"] * 10) == list(range(10))


def test_slow_tests_of_a_file_are_picked_however_many_others_are(tree):
    room = tree / "tests" / "room"
    many = "".join(f"def test_{i}(): pass\n" for i in range(affected_tests.MOST_FUNCTIONS))
    (room / "test_many.py").write_text("import tapeflow.room.file\n" + many)
    (room / "test_file.py").write_text("def test_child(): os.fork()\ndef test_all(): pass")
    functions = affected_tests.Picked(tree / FILE).functions
    assert [name for _, name in sorted(functions, key=functions.__getitem__)[:2]] == ["test_all", "test_0"]
    assert (room / "test_file.py", "test_child") in functions


def test_parameters_that_name_what_a_file_declares(tree):
    picked = affected_tests.Picked(tree / FILE)
    values = [f"tf.{name}(x)" for name in ("a", "b", "c", "d", "e", "f", "g", "Twice", "four_times", "other")]
    assert picked.parameters(tree / "tests" / "test_ops.py", "test_values", values) == [7, 8]
    assert picked.parameters(tree / "tests" / "room" / "test_file.py", "test_all", values) == list(range(10))


def test_parameters_name_each_declaration_in_turn(tree, monkeypatch):
    monkeypatch.setattr(affected_tests, "MANY", 4)
    picked = affected_tests.Picked(tree / FILE)
    values = [*(f"tf.Twice({i}, Twice)" for i in range(12)), "tf.helper(x, of, many, words)", "tf.helper(x)"]
    kept = picked.parameters(tree / "tests" / "test_ops.py", "test_values", values)
    assert len(kept) == 4 and 0 in kept and 13 in kept


def test_a_golden_names_what_its_helpers_name(tree):
    group = Group("def run(x):\n    return double(x)\ndouble = lambda x: tf.four_times(x)\nunused = tf.four_times")
    group.values("\n".join(["run(1)", *(f"tf.other({i})" for i in range(8))]))
    (run, other, *_) = cases = list(group.cases.values())
    assert "four_times" in affected_tests.described(run) and "four_times" not in affected_tests.described(other)
    assert affected_tests.Picked(tree / FILE).parameters(tree / "tests" / "test_ops.py", "test_values", cases) == [0]


def test_tests_beside_the_rooms_are_not_those_of_a_file_in_a_room(tree):
    (tree / "tests" / "test_file.py").write_text("def test_files(): pass")
    (tree / "tests" / "test_room.py").write_text("def test_rooms(): pass")
    (tree / "src" / "tapeflow" / "room" / "__init__.py").write_text("def first(): pass")
    names = [name for _, name in affected_tests.Picked(tree / FILE).functions]
    assert "test_files" not in names and "test_all" in names
    room = affected_tests.Picked(tree / "src" / "tapeflow" / "room" / "__init__.py")
    assert (tree / "tests" / "test_room.py", "test_rooms") in room.own


def test_tables_are_files_by_their_folders(tree):
    tests = affected_tests.ROOT / "tests"
    assert affected_tests.is_table(tests / "test_ops.py") and affected_tests.is_table(tests / "core/ops/test_traits.py")
    assert not affected_tests.is_table(tests / "torch" / "test_ops.py")


def test_survivors_on_record_have_reasons():
    assert all(reason.strip() for reason in mutants.recorded_survivors().values())
