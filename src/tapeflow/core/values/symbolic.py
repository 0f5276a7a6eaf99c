"""The symbolic tensor: an output of an operation in a graph, which has a dtype and a static shape, and no
value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core.context import state
from tapeflow.core.errors import InaccessibleTensorError
from tapeflow.core.hooks import hooks
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, next_id, not_allowed

if TYPE_CHECKING:
    from tapeflow.core.types.aliases import ShapeLike
    from tapeflow.graph.ir.graph import Graph, Operation


class SymbolicTensor(Tensor):
    """An output of an operation.

    Attributes:
        op: the operation.
        value_index: its place among the operation's outputs.
        dtype: its `tf.DType`.
    """

    __slots__ = ("__dict__", "__weakref__", "_id", "_shape", "dtype", "op", "value_index")

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: TensorShape) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self._shape = shape
        self._id = next_id()

    @property
    def value(self) -> Any:
        """The raw value, which a tensor of a graph does not have: an op that runs eagerly got it as an argument.

        Raises:
            InaccessibleTensorError: always.
        """
        raise out_of_scope(self, "here")

    # ---- properties ----------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph that it is in."""
        return self.op.graph

    @property
    def name(self) -> str:
        """The operation's name and the output's number: `add:0`."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Returns the same as `.shape`."""
        return self._shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Merges a shape into the static shape.

        Raises:
            ValueError: the two are incompatible.
        """
        new_shape = TensorShape(shape)
        if not self._shape.is_compatible_with(new_shape):
            mine, theirs = (str(s.as_list()).replace("None", "?").replace(" ", "") for s in (self._shape, new_shape))
            if self._shape.rank != new_shape.rank:
                raise ValueError(f"Shapes must be equal rank, but are {self._shape.rank} and {new_shape.rank}")
            i = next(
                i for i, (a, b) in enumerate(zip(self._shape, new_shape, strict=True)) if None not in (a, b) and a != b
            )
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {self._shape[i]} and {new_shape[i]}. "
                f"Shapes are {mine} and {theirs}."
            )
        merged = self._shape.merge_with(new_shape)
        if merged != self._shape:
            self._shape, self.graph.declares_shapes = merged, True

    @property
    def ndim(self) -> int | None:  # type: ignore[override]
        """The number of dimensions, or None where it is unknown."""
        return self._shape.rank

    @property
    def _rank(self) -> int | None:
        return self._shape.rank

    @property
    def device(self) -> str:
        """The device that the program asked for, or an empty string."""
        return self.op.device

    @property
    def _type_spec(self) -> Any:
        return hooks.tensor_spec(self._shape, self.dtype)

    def consumers(self) -> list[Operation]:
        """Returns the operations of the graph that take this tensor."""
        return [op for op in self.graph.get_operations() for t in op.inputs if t is self]

    # In a graph of TensorFlow 1's kind a tensor is itself: it can be a key, and equals nothing else.

    def __hash__(self) -> int:
        return super().__hash__() if self.op.graph.building_function else id(self)

    def __eq__(self, other: object) -> Any:
        return super().__eq__(other) if self.op.graph.building_function else self is other

    def __ne__(self, other: object) -> Any:
        return super().__ne__(other) if self.op.graph.building_function else self is not other

    # ---- refused in a graph --------------------------------------------------------------------------------------

    def __iter__(self) -> Any:
        raise not_allowed("Iterating over a symbolic `tf.Tensor`")

    def __len__(self) -> int:
        if self._shape.rank is None or not self._shape.rank or self._shape[0] is None:
            raise TypeError(
                f"len is not well defined for a symbolic Tensor. ({self.name}) Please call `x.shape` rather than "
                "`len(x)` for shape information."
            )
        return int(self._shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that you're "
            "trying to pass a Tensor to a NumPy call, which is not supported."
        )

    def _refuse_number(self, kind: str) -> Any:
        raise TypeError(
            f"A symbolic tf.Tensor ({self.name}) has no value while its function is traced, so Python can't make "
            f"{kind} of it: use tf.cast, or compute the number outside of the function."
        )

    def __int__(self) -> int:
        return self._refuse_number("an int")

    def __float__(self) -> float:
        return self._refuse_number("a float")

    def __index__(self) -> int:
        return self._refuse_number("an index")

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """Returns the value that the session, by default the default one, computes.

        Raises:
            ValueError: there is no session.
        """
        session = session or state.default_session()
        if session is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` "
                "or pass an explicit session to `eval(session=sess)`"
            )
        return session.run(self, feed_dict)

    # ---- printing ------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={_shape_text(self._shape)} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self._shape.rank is None else f", shape={_shape_text(self._shape)}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'


def out_of_scope(tensor: SymbolicTensor, user: object) -> InaccessibleTensorError:
    """Returns the error for a tensor that is used outside of its graph, by `user`, with the lines that made it."""
    lines = [f'    File "{f.filename}", line {f.lineno}, in {f.name}\n' for f in tensor.op.traceback]
    return InaccessibleTensorError(
        f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow "
        "collections to access it.\nPlease see "
        "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more "
        f"information.\n\n{tensor!r} was defined here:\n{''.join(lines)}\nThe tensor {tensor!r} cannot be "
        f"accessed from {user}, because it was defined in {tensor.graph}, which is out of scope."
    )


def _shape_text(shape: TensorShape) -> str:
    return "<unknown>" if shape.rank is None else str(tuple(shape.as_list()))
