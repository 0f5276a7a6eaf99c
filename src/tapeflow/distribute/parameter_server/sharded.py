"""Variables in parts, cut along the first axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.array.gathers import gather, gather_v2
from tapeflow.array.masks import where_op
from tapeflow.array.reshapes import reshape
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import ReadAsTensor, Tensor, next_id
from tapeflow.core.values.trackable import Trackable
from tapeflow.core.values.variable import Variable
from tapeflow.math.casting import cast
from tapeflow.math.comparison import logical_and
from tapeflow.nn.embedding import embedding_lookup


class ShardedVariable(ReadAsTensor, Trackable):
    """A variable in parts; as a tensor, the parts one below the other.

    Args:
        variables: the parts, of the same dtype and of shapes that differ in the first dimension only.
        name: its name.
    """

    def __init__(self, variables: Sequence[Variable], name: str = "ShardedVariable") -> None:
        self._parts = list(variables)
        self._name = name
        self._number = next_id()
        self.dtype = variables[0].dtype

    @property
    def variables(self) -> list[Variable]:
        """The parts."""
        return self._parts

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return TensorShape([sum(v.shape[0] for v in self._parts), *self._parts[0].shape[1:]])

    @property
    def trainable(self) -> bool:
        """Returns True if tapes watch the parts when they are read."""
        return self._parts[0].trainable

    @property
    def _id(self) -> int:  # type: ignore[override]  # the id for tapes
        raise AttributeError(
            "'ShardedVariable' object has no attribute 'handle': take the gradients of its `variables`."
        )

    @property
    def _value(self) -> Any:  # type: ignore[override]  # nothing is stored here
        return self._read()

    def _read(self) -> Any:
        return concat([v._read() for v in self._parts], 0)

    def value(self) -> Tensor:
        """Returns the value of the whole."""
        return self._read()

    read_value = value

    def numpy(self) -> Any:
        """Returns the value of the whole as a NumPy array."""
        return self._read().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._read().__array__(dtype, copy)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return convert(self._read(), dtype)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._parts)

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Gathers rows where they are; for other ops the whole is read."""
        if function.op is gather_v2.op and args[0] is self and args[2:] in ((0,), (0, 0)):
            return embedding_lookup(self._parts, args[1])
        return NotImplemented

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Returns the rows at `indices`."""
        return embedding_lookup(self._parts, indices)

    # ---- writing -----------------------------------------------------------------------------------------------------

    def _starts(self) -> list[int]:
        """Returns the numbers of the parts' first rows, and of the row after the last."""
        return list(accumulate((v.shape[0] for v in self._parts), initial=0))

    def _write(self, method: str, value: TensorLike, kwargs: dict[str, Any]) -> ShardedVariable:
        tensor, starts = convert(value, self.dtype), self._starts()
        for v, start, stop in zip(self._parts, starts, starts[1:], strict=False):
            getattr(v, method)(tensor[start:stop], **kwargs)
        return self

    def assign(self, value: TensorLike, **kwargs: Any) -> ShardedVariable:
        """Makes `value` the variable's value. See `tf.Variable.assign`."""
        return self._write("assign", value, kwargs)

    def assign_add(self, delta: TensorLike, **kwargs: Any) -> ShardedVariable:
        """Adds `delta`. See `tf.Variable.assign_add`."""
        return self._write("assign_add", delta, kwargs)

    def assign_sub(self, delta: TensorLike, **kwargs: Any) -> ShardedVariable:
        """Subtracts `delta`. See `tf.Variable.assign_sub`."""
        return self._write("assign_sub", delta, kwargs)

    def _scatter(self, method: str, delta: IndexedSlices) -> ShardedVariable:
        """Calls a method of each part, with the rows that are its own."""
        indices = reshape(convert(delta.indices), (-1,))
        starts = self._starts()
        for v, start, stop in zip(self._parts, starts, starts[1:], strict=False):
            own = reshape(where_op(logical_and(indices >= start, indices < stop)), (-1,))
            rows = cast(gather(indices, own), indices.dtype) - start
            getattr(v, method)(IndexedSlices(gather(convert(delta.values, self.dtype), own), rows))
        return self

    # ---- in checkpoints ----------------------------------------------------------------------------------------------

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": self._read()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.assign(restored_tensors["VARIABLE_VALUE"])

    @property
    def _unique_id(self) -> str:
        return f"{self._name}_{self._number}"


def _scatter_method(method: str) -> Callable[..., ShardedVariable]:
    def scatter(
        self: ShardedVariable, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> ShardedVariable:
        return self._scatter(method, sparse_delta)

    scatter.__name__, scatter.__doc__ = method, f"Changes rows. See `tf.Variable.{method}`."
    return scatter


for _name in sorted(Tensor.OVERLOADABLE_OPERATORS):
    setattr(ShardedVariable, _name, getattr(Variable, _name))
for _kind in ("add", "sub", "mul", "div", "min", "max", "update"):
    setattr(ShardedVariable, f"scatter_{_kind}", _scatter_method(f"scatter_{_kind}"))
