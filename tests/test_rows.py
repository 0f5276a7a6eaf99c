"""Every public function that is an op has a row in the op table, or a reason to have none."""

import inspect
import pathlib
import re

import op_table
import tapeflow as tf

TESTS = pathlib.Path(__file__).parent
# By namespace or name, the files that test what has no row.
EXEMPT = {
    "strings": ["goldens/cases_strings.py"],
    "as_string": ["goldens/cases_strings.py"],
    "io": ["io/test_io.py", "image/test_files.py", "goldens/cases_image_files.py", "data/test_files.py"],
    "audio": ["test_audio.py"],
    "quantization": ["quantization/test_quantization.py", "goldens/cases_edges.py", "goldens/cases_functions.py"],
    "timestamp": ["goldens/cases_arrays.py"],
    "random_index_shuffle": ["goldens/cases_random.py"],
    "debugging.check_numerics": ["debugging/test_debugging.py"],
}
BY_ITS_EXAMPLE = {"check_pinned"}  # it takes memory that a GPU's driver has pinned: its example shows the refusal


SPACES = """
audio bitwise debugging dtypes image io linalg lookup math nest nn quantization ragged random sets signal sparse strings
"""


def public_ops():
    """The public functions that run one op: by the shortest of their names."""
    found = {}
    spaces = [("", tf), *((f"{name}.", getattr(tf, name)) for name in SPACES.split() if hasattr(tf, name))]
    for prefix, space in spaces:
        for name in dir(space):
            value = getattr(space, name)
            if not name.startswith("_") and inspect.isfunction(value) and hasattr(value, "op"):
                title = f"{prefix}{name}"
                found[value] = min(found.get(value, title), title, key=len)
    return {title: value for value, title in found.items()}


def called(file):
    """The attributes that a file asks for, in its code and in the expressions of golden cases."""
    return set(re.findall(r"\.(\w+)", (TESTS / file).read_text()))


def test_every_public_op_has_a_row_or_is_called_by_the_tests_of_its_namespace():
    with_rows = {row.function for row in op_table.all_rows()}
    without = {title for title, function in public_ops().items() if function not in with_rows} - BY_ITS_EXAMPLE
    files = {title: EXEMPT.get(title) or EXEMPT.get(title.partition(".")[0], []) for title in without}
    untested = {t for t, named in files.items() if not any(t.rpartition(".")[2] in called(f) for f in named)}
    assert not untested, f"write a row in tests/support/rows/ for {sorted(untested)}"


def test_no_reason_is_out_of_date():
    titles = public_ops()
    used = set(titles) | {title.partition(".")[0] for title in titles}
    assert set(EXEMPT) | BY_ITS_EXAMPLE <= used
