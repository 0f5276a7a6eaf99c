"""What AutoGraph says about mistakes in staged control flow: TensorFlow's classes and words, at the user's own line."""

import importlib.util

import pytest

import tapeflow as tf
from autograph_programs.case import FOLDER, load
from tapeflow import nest
from tapeflow.autograph.conversion import convert_function
from tapeflow.autograph.source_map import UserCode
from tapeflow.control import conditions_and_loops
from tapeflow.graph.ir.func_graph import FuncGraph

PROGRAMS = load(tf)


@pytest.fixture(autouse=True)
def staging(monkeypatch):
    """Conditions and loops that trace what they are given, for as long as graphs have none of their own."""
    if importlib.util.find_spec("tapeflow.graph.transform.control_flow"):
        return

    def cond(pred, true_fn, false_fn):
        results, others = true_fn(), false_fn()
        nest.assert_same_structure(results, others)
        return results

    def while_loop(test, body, variables, shape_invariants=None):
        test(*variables)
        results = body(*variables)
        nest.assert_same_structure(list(variables), list(results))
        return results

    monkeypatch.setattr(conditions_and_loops, "cond", cond)
    monkeypatch.setattr(conditions_and_loops, "while_loop", while_loop)


def trace(title):
    function, args = PROGRAMS[title]
    graph = FuncGraph("f")
    with graph.as_default(), UserCode():
        return convert_function(function)(*[graph.input(tf.TensorSpec.from_tensor(tf.constant(a)), "x") for a in args])


@pytest.mark.parametrize(("title", "cls", "message", "line"), [
    ("conditions/undefined_in_else", ValueError, "'y' must also be initialized in the else branch", "if x > 1:"),
    ("conditions/undefined_in_main", ValueError, "'y' must also be initialized in the main branch", "if x > 1:"),
    ("conditions/dtype_differs", TypeError,
     "'y' has dtype int32 in the main branch, but dtype float32 in the else branch", "if x > 1:"),
    ("conditions/structure_differs", TypeError, "'y' must have the same nested structure", "if x > 1:"),
    ("conditions/none_in_one", ValueError, "'y' is None at the end of the else branch.", "if x > 1:"),
    ("conditions/condition_of_vector", ValueError, "condition of if statement expected to be `tf.bool` scalar",
    "if x > 1:"),
    ("conditions/condition_of_number", ValueError, "to use as boolean Tensor, use `tf.cast`", "if x:"),
    ("conditions/expression_dtype", TypeError, "'x > 1' has dtype int32 in the main branch",
    "return 1 if x > 1 else 2.0"),
    ("conditions/expression_none", ValueError, "'x > 1' is None at the end of the else branch.",
    "return x if x > 1 else None"),
    ("jumps/return_one_sided", ValueError, "the else branch must also have a return statement.", "if x > 1:"),
    ("jumps/return_dtype", TypeError, "'retval_' has dtype int32 in the main branch", "if x > 1:"),
    ("loops/while_dtype", TypeError, "'y' has dtype int32 before the loop, but dtype float32 after one iteration",
     "while x < 3:"),
    ("loops/while_shape", ValueError, "'y' has shape (1,) before the loop, but shape (2,) after one iteration.",
     "while x < 3:"),
    ("loops/while_structure", TypeError, "'y' does not have the same nested structure after one iteration",
    "while x < 3:"),
    ("loops/while_none_after", ValueError, "'y' is None at the end of the iteration.", "while x < 3:"),
    ("loops/while_used_before_defined", ValueError, "'y' must be defined before the loop", "while x < 3:"),
    ("loops/while_vector_condition", ValueError, "condition of while loop expected to be `tf.bool` scalar",
    "while x > 1:"),
    ("loops/for_scalar", ValueError, "len requires a non-scalar tensor", "for v in x:"),
    ("python/undefined_read", UnboundLocalError, "'y'", "return y + x"),
    ("python/error_in_function", ValueError, "hello", 'raise ValueError("hello")'),
    ("python/key_error", KeyError, "'a'", 'return {}["a"]'),
])  # fmt: skip
def test_message(title, cls, message, line):
    with pytest.raises(cls) as caught:
        trace(title)
    text = str(caught.value)
    assert text.startswith("in user code:\n\n")
    assert message in text
    assert f"        {line}\n" in text
    assert str(FOLDER / f"{title.partition('/')[0]}.py") in text


@pytest.mark.parametrize("title", [
    "conditions/nested_if", "conditions/dict_item", "loops/while_collatz", "loops/while_defined_inside",
    "loops/for_range",
    "loops/for_python_range_of_tensor", "loops/for_matrix_nested", "loops/for_enumerate_tensor",
    "loops/for_zip_tensors",
    "jumps/return_nested", "jumps/return_elif", "jumps/return_in_staged_loop",
    "jumps/continue_and_break", "jumps/while_true_on_tensor", "logic/mixed", "logic/chained_three",
    "python/method_call",
])  # fmt: skip
def test_staged(title):
    trace(title)


def test_staged_code_is_traced_once_for_both_branches():
    seen = []

    def f(x):
        if x > 0:
            seen.append("main")
            y = x
        else:
            seen.append("else")
            y = -x
        return y

    graph = FuncGraph("f")
    with graph.as_default():
        convert_function(f)(graph.input(tf.TensorSpec([], tf.float32), "x"))
    assert seen == ["main", "else"]
