"""Changes of parts of variables: `scatter_add` and its kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.concat_and_split import stack
from tapeflow.array.creation import range as sequence
from tapeflow.array.properties import shape
from tapeflow.array.ranges import meshgrid
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.variable import Variable
from tapeflow_compat.compat.v1.aliases import member


def _scatter(method: str, summary: str, example: str, result: str) -> Callable[..., Any]:
    locking = method.endswith("_update")  # the default differs, and means nothing
    parts = "_nd_" in method
    what, example, indices, of_each = (
        ("parts", f"[[0], [2]], {example}", "shape [..., k]: where the parts are, by their first k dimensions", "part")
        if parts
        else ("rows", f"[0, 2], {example}", "any shape: which rows", "row")
    )
    updates = f"of the {'leading shape' if parts else 'shape'} of `indices` and then that of a {of_each}"

    @member(method, summary=summary, what=what, indices=indices, updates=updates, example=example, result=result)
    def scatter(
        ref: Variable, indices: TensorLike, updates: Any, use_locking: bool = locking, name: str | None = None
    ) -> Any:
        """{summary} {what} of a variable, see `tf.Variable.{name}`; in a graph, when the result is run or used.

        Args:
            ref: the variable.
            indices: int32 or int64, of {indices}.
            updates: {updates}.
            use_locking: accepted, and without effect.

        Returns:
            The variable.

        Raises:
            InvalidArgumentError: an index is out of range, or the shapes do not fit.

        Example:
            >>> tf.compat.v1.{name}(tf.Variable([8.0, 9.0, 4.0]), {example}).numpy().tolist()
            {result}
        """
        index = convert(indices)
        index = index if index.dtype in (int32, int64) else convert(indices, int32)
        if parts:
            return getattr(ref, method)(index, updates, name)
        return getattr(ref, method)(IndexedSlices(convert(updates, ref.dtype), index), name=name)

    return scatter


scatter_update = _scatter("scatter_update", "Sets", "[1.0, 2.0]", "[1.0, 9.0, 2.0]")
scatter_add = _scatter("scatter_add", "Adds to", "[1.0, 2.0]", "[9.0, 9.0, 6.0]")
scatter_sub = _scatter("scatter_sub", "Subtracts from", "[1.0, 2.0]", "[7.0, 9.0, 2.0]")
scatter_mul = _scatter("scatter_mul", "Multiplies", "[1.0, 2.0]", "[8.0, 9.0, 8.0]")
scatter_div = _scatter("scatter_div", "Divides", "[1.0, 2.0]", "[8.0, 9.0, 2.0]")
scatter_max = _scatter("scatter_max", "Takes the element-wise maximum with", "[1.0, 5.0]", "[8.0, 9.0, 5.0]")
scatter_min = _scatter("scatter_min", "Takes the element-wise minimum with", "[1.0, 5.0]", "[1.0, 9.0, 4.0]")
scatter_nd_update = _scatter("scatter_nd_update", "Sets", "[1.0, 2.0]", "[1.0, 9.0, 2.0]")
scatter_nd_add = _scatter("scatter_nd_add", "Adds to", "[1.0, 2.0]", "[9.0, 9.0, 6.0]")
scatter_nd_sub = _scatter("scatter_nd_sub", "Subtracts from", "[1.0, 2.0]", "[7.0, 9.0, 2.0]")


def batch_scatter_update(
    ref: Variable, indices: TensorLike, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Sets parts of each element of a batch in a variable; in a graph, when the result is run or used.

    Args:
        ref: the variable, of shape [batch..., parts, ...].
        indices: integers, [batch..., n]: which parts.
        updates: the parts, [batch..., n, ...].
        use_locking: accepted, and without effect.

    Returns:
        The variable.

    Raises:
        InvalidArgumentError: an index is out of range, or the shapes do not fit.
        ValueError: the rank of `indices` is unknown.

    Example:
        >>> v = tf.Variable([[1, 2, 3], [4, 5, 6]])
        >>> tf.compat.v1.batch_scatter_update(v, [[0], [2]], [[8], [9]]).numpy().tolist()
        [[8, 2, 3], [4, 5, 9]]
    """
    with name_scope(name or "batch_scatter_update"):
        index = convert(indices)
        if index.shape.rank is None:
            raise ValueError("batch_scatter_update needs indices of known rank.")
        dims = shape(index, out_type=index.dtype)
        grid = meshgrid(*[sequence(dims[i]) for i in range(index.shape.rank)], indexing="ij")
        return scatter_nd_update(ref, stack([*grid[:-1], index], axis=-1), updates, use_locking)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """Adds one to a variable and returns its old value, see `tf.Variable.count_up_to`.

    Raises:
        OutOfRangeError: it is `limit` already.

    Example:
        >>> v = tf.Variable(0)
        >>> tf.compat.v1.count_up_to(v, 3).numpy().item(), v.numpy().item()
        (0, 1)
    """
    return ref.count_up_to(limit)
