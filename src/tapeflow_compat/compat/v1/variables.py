"""The variables of a graph, as TensorFlow 1 knows them: by collections and initializers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.properties import size
from tapeflow.control.conditions_and_loops import Assert
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_in
from tapeflow.graph.ir.variables import has_value, is_initialized
from tapeflow.math.comparison import equal
from tapeflow_compat.default_graph import get_default_graph


class GraphKeys:
    """The names of the collections that TensorFlow 1 programs use.

    Example:
        >>> tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES
        'trainable_variables'
    """

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = "variables"


# ---- collections -----------------------------------------------------------------------------------------------------


def add_to_collection(name: str | None, value: Any) -> None:
    """Adds a value to a collection of the default graph, see `tf.Graph.add_to_collection`.

    Example:
        >>> with tf.Graph().as_default():
        ...     tf.compat.v1.add_to_collection("mine", 1)
        ...     print(tf.compat.v1.get_collection("mine"))
        [1]
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Adds a value to several collections of the default graph.

    Example:
        >>> with tf.Graph().as_default():
        ...     tf.compat.v1.add_to_collections(["mine", "yours"], 1)
        ...     print(tf.compat.v1.get_collection("yours"))
        [1]
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Returns a copy of a collection of the default graph.

    Args:
        key: the collection's name.
        scope: a regular expression that the items' names must match from their beginning on.

    Example:
        >>> with tf.Graph().as_default():
        ...     tf.compat.v1.add_to_collection("mine", 1)
        ...     tf.compat.v1.get_collection("mine")
        [1]
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """Returns a collection of the default graph itself: items added to this list are in the collection.

    Example:
        >>> with tf.Graph().as_default():
        ...     tf.compat.v1.get_collection_ref("mine").append(1)
        ...     print(tf.compat.v1.get_collection("mine"))
        [1]
    """
    return get_default_graph().get_collection_ref(key)


def global_variables(scope: str | None = None) -> list[Any]:
    """Returns the variables of the default graph.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0, name="v")
        ...     print([w.name for w in tf.compat.v1.global_variables()])
        ['v:0']
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Returns the local variables of the default graph: those that no checkpoint contains.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.compat.v1.get_local_variable("v", [2])
        ...     print([w.name for w in tf.compat.v1.local_variables()])
        ['v:0']
    """
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """Returns the variables in the collection of that name, which libraries of layers fill.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.compat.v1.get_variable("v", [2], collections=[tf.compat.v1.GraphKeys.MODEL_VARIABLES])
        ...     print([w.name for w in tf.compat.v1.model_variables()])
        ['v:0']
    """
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Returns the variables that have moving averages.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0, name="v")
        ...     update = tf.train.ExponentialMovingAverage(0.9).apply([v])
        ...     print([w.name for w in tf.compat.v1.moving_average_variables()])
        ['v:0']
    """
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Returns the trainable variables of the default graph, those whose names match `scope`.

    Example:
        >>> with tf.Graph().as_default():
        ...     v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, trainable=False)
        ...     print([t.name for t in tf.compat.v1.trainable_variables()])
        ['v:0']
    """
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Returns the same as `global_variables()`, by its old name.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0, name="v")
        ...     print([w.name for w in tf.compat.v1.all_variables()])
        ['v:0']
    """
    return global_variables()


# ---- initializers ----------------------------------------------------------------------------------------------------


def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Operation | None:
    """Returns an operation that initializes variables; eagerly they are initialized already, and it returns None.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(2.0)
        ...     sess.run(tf.compat.v1.variables_initializer([v]))
        ...     print(sess.run(v))
        2.0
    """
    if state.graph is None:
        return None
    graph = get_default_graph()
    with graph.control_dependencies([v.initializer for v in var_list]):
        return graph.insert(GraphOp("NoOp"), graph.unique_name(name), ())


def global_variables_initializer() -> Operation | None:
    """Returns an operation that initializes every variable of the default graph; eagerly None.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(2.0)
        ...     sess.run(tf.compat.v1.global_variables_initializer())
        ...     print(sess.run(v))
        2.0
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation | None:
    """Returns an operation that initializes every local variable of the default graph; eagerly None.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.compat.v1.get_local_variable("v", initializer=2.0)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(v))
        2.0
    """
    return variables_initializer(local_variables())


def initialize_variables(var_list: Sequence[Any], name: str = "init") -> Operation | None:
    """Returns the same as `variables_initializer`, by its old name.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(2.0)
        ...     print(tf.compat.v1.initialize_variables([v]).name)
        init
    """
    return variables_initializer(var_list, name)


def initialize_all_variables() -> Operation | None:
    """Returns the same as `global_variables_initializer`, by its old name.

    Example:
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.initialize_all_variables().name)
        init
    """
    return global_variables_initializer()


def initialize_local_variables() -> Operation | None:
    """Returns the same as `local_variables_initializer`, by its old name.

    Example:
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.initialize_local_variables().name)
        init
    """
    return local_variables_initializer()


def is_variable_initialized(variable: Variable) -> Any:
    """Returns a boolean tensor: whether a variable has a value.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     print(sess.run(tf.compat.v1.is_variable_initialized(tf.Variable(1.0))))
        False
    """
    return convert(True) if state.graph is None else is_initialized(variable)


def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Any:
    """Returns the names of the variables without a value, as a vector of strings; by default of all of the default
    graph.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(1.0, name="v")
        ...     print(sess.run(tf.compat.v1.report_uninitialized_variables()))
        [b'v']
    """
    variables = global_variables() + local_variables() if var_list is None else list(var_list)
    names = [v._name for v in variables]
    graph = get_default_graph()

    def kernel(*handles: Any) -> Any:
        return convert([n for n, h in zip(names, handles, strict=True) if not has_value(variable_in(h))], string).value

    with graph.as_default():
        return graph.node(GraphOp("ReportUninitialized", kernel), variables, [(string, [None])], name).outputs[0]


def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Any:
    """Returns an operation that fails where a variable has no value; None if there are no variables.

    Raises:
        InvalidArgumentError: that, when the operation runs.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(2.0)
        ...     check = tf.compat.v1.assert_variables_initialized()
        ...     sess.run(v.initializer)
        ...     sess.run(check)
    """
    variables = global_variables() + local_variables() if var_list is None else list(var_list)
    if not variables:
        return None
    missing = report_uninitialized_variables(variables)
    return Assert(equal(size(missing), 0), ["Variables without a value:", missing])


# ---- changing them ---------------------------------------------------------------------------------------------------


def _check_variable(ref: Any) -> Variable:
    if not isinstance(ref, Variable):
        raise AttributeError(f"Only a tf.Variable can be assigned: {ref!r} has no attribute 'assign'")
    return ref


def assign(ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: str | None = None) -> Any:
    """Assigns a value to a variable, see `tf.Variable.assign`; in a graph, when the result is run or used.

    Args:
        ref: the variable.
        value: of its dtype and shape.
        validate_shape, use_locking: accepted, and without effect.

    Returns:
        The variable.

    Raises:
        AttributeError: `ref` is no variable.
        ValueError: the value is of another shape.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(1.0)
        ...     print(sess.run(tf.compat.v1.assign(v, 5.0)))
        5.0
    """
    return _check_variable(ref).assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Adds to a variable, see `tf.Variable.assign_add`; in a graph, when the result is run or used.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(1.0)
        ...     sess.run(v.initializer)
        ...     print(sess.run(tf.compat.v1.assign_add(v, 5.0)))
        6.0
    """
    return _check_variable(ref).assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Subtracts from a variable, see `tf.Variable.assign_sub`; in a graph, when the result is run or used.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(1.0)
        ...     sess.run(v.initializer)
        ...     print(sess.run(tf.compat.v1.assign_sub(v, 5.0)))
        -4.0
    """
    return _check_variable(ref).assign_sub(value, name=name)
