"""Every public function that is an op has a row in the op table, or a reason to have none."""

import inspect

import op_table
import tapeflow as tf

STRINGS = "of strings: `goldens/cases_strings.py` and `io/test_io.py` have their values"
FILES = "of files: `io/test_io.py`, `image/test_files.py` and `goldens/cases_image_files.py`"
# By namespace or name, why there is no row.
EXEMPT = {
    "strings": STRINGS,
    "as_string": STRINGS,
    "io": FILES,
    "audio": FILES,
    "quantization": "its gradients are no derivatives: `quantization/test_quantization.py`",
    "timestamp": "it gives the time",
    "check_pinned": "it takes memory that a GPU's driver has pinned: its example shows the refusal",
    "random_index_shuffle": "of a seed: `random/test_random.py`",
    "debugging.check_numerics": "it gives what it gets, or an error: `debugging/test_debugging.py`",
}


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


def test_every_public_op_has_a_row():
    with_rows = {row.function for row in op_table.all_rows()}
    without = {title for title, function in public_ops().items() if function not in with_rows}
    exempt = {title for title in without if title in EXEMPT or title.partition(".")[0] in EXEMPT}
    assert without == exempt, f"write a row in tests/support/rows/ for {sorted(without - exempt)}"


def test_no_reason_is_out_of_date():
    titles = public_ops()
    used = set(titles) | {title.partition(".")[0] for title in titles}
    assert set(EXEMPT) <= used
