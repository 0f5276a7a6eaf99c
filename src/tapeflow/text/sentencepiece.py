"""SentencePiece, by Google's own library."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.errors import InternalError, OutOfRangeError, UnimplementedError
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.shape_rules import scalar
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import box_object, held_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.kernels import encode_text, raw_value, splits_of_rows, string_op
from tapeflow.text.tokenizer import Detokenizer, TokenizerWithOffsets, ragged_or_tensor, rows_of_splits, split_rows
from tapeflow.tracking.resources import SavedResource, saved_functions

Raw = Any


def _require_module(name: str) -> Any:
    """Returns a module of the extra `text`.

    Raises:
        ImportError: it is not installed; the text says what to install.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"SentencepieceTokenizer needs the package {error.name}: pip install 'tapeflow[text]'", name=error.name
        ) from error


class _Processor:
    """The value of a handle: a model that is loaded. Calls may come from several threads."""

    def __init__(self, model: bytes) -> None:
        try:
            library = _require_module("sentencepiece")
        except ImportError as error:
            raise UnimplementedError.of(str(error)) from error
        if not model:
            raise invalid("SentencepieceTokenizer needs the bytes of a model, got none.")
        try:
            self.model = library.SentencePieceProcessor(model_proto=model)
        except (RuntimeError, ValueError, TypeError) as error:
            raise InternalError.of(f"The bytes are no model of SentencePiece: {error}") from None

    def run(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Calls a function of the library, with TensorFlow's errors."""
        try:
            return function(*args, **options)
        except IndexError as error:
            raise OutOfRangeError.of(str(error).removeprefix("OUT_OF_RANGE: ")) from None
        except (RuntimeError, ValueError, TypeError) as error:
            raise InternalError.of(str(error)) from None


def _processor_of(handle: Raw) -> _Processor:
    return held_object(handle, _Processor, "model of SentencePiece")


def _load_model(model: str | bytes, *_: Any) -> Raw:
    return box_object(_Processor(model if isinstance(model, bytes) else encode_text(model)))


@string_op(
    "SentencepieceOp", _load_model, shape=scalar,
    signature=' -> handle:resource; attr=model:string,default=""; attr=container:string,default=""; '
    'attr=shared_name:string,default=""; attr=use_node_name_sharing:bool,default=false; is_stateful=true',
)  # fmt: skip
def _model_op(
    model: Any = "", container: str = "", shared_name: str = "", use_node_name_sharing: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Loads a model."""


def _encode_strings(
    handle: Raw, input: StringArray, nbest_size: Raw, alpha: Raw, add_bos: Raw, add_eos: Raw, reverse: Raw, kind: Any,
    return_nbest: bool,
) -> list[list[Any]]:  # fmt: skip
    """Returns the tokens of each string: numbers, pieces, or messages with both and places; with `return_nbest` several
    rows each."""
    processor, texts = _processor_of(handle), input.flat
    model, options = processor.model, {"out_type": "serialized_proto" if kind is _Place else kind}
    if return_nbest:
        if nbest_size.ndim or int(nbest_size) < 1:
            raise invalid(f"When return_nbest is true nbest_size must be a scalar >= 1; got {nbest_size.tolist()}")
        best = [processor.run(model.nbest_encode, t, nbest_size=int(nbest_size), **options) for t in texts]
        rows = [row for rows in best for row in rows]
    elif np.isin(nbest_size.numpy(), (0, 1)).all():
        rows = processor.run(model.encode, texts, **options) if texts else []
    else:
        sizes, rates = (np.broadcast_to(t.numpy(), len(texts)).tolist() for t in (nbest_size, alpha))
        rows = [
            processor.run(model.encode, t, enable_sampling=n not in (0, 1), nbest_size=n, alpha=a, **options)
            for t, n, a in zip(texts, sizes, rates, strict=True)
        ]
    if kind is _Place:
        message = _require_module("sentencepiece.sentencepiece_pb2").SentencePieceText
        rows = [[_Place(p.piece, p.id, p.begin, p.end) for p in message.FromString(row).pieces] for row in rows]
    ends = ("bos", add_bos), ("eos", add_eos)
    before, after = ([_special_token(processor, name, kind)] * bool(add) for name, add in ends)
    return [[*before, *row, *after][:: -1 if reverse else 1] for row in rows]


class _Place(NamedTuple):
    """A piece, and where in the text it is."""

    piece: str
    id: int
    begin: int
    end: int


def _special_token(processor: _Processor, name: str, kind: str) -> Any:
    """Returns the token for the beginning or the end of a text."""
    number = getattr(processor.model, f"{name}_id")()
    if number < 0:
        raise InternalError.of(f"The model of SentencePiece has no {name} token.")
    piece = processor.model.id_to_piece(number)
    return _Place(piece, number, 0, 0) if kind is _Place else piece if kind is str else number


def _values_of(tokens: list[Any], out_type: DType) -> Raw:
    return raw_value([encode_text(v) for v in tokens] if out_type is string else tokens, out_type)


_TOKENIZES = (
    "sp_handle:resource, input:string, nbest_size:int32, alpha:float, add_bos:bool, add_eos:bool, reverse:bool -> "
    "output_values:out_type, output_splits:Tsplits{}; "
    "attr=out_type:type,default=DT_INT32,allowed=[DT_INT32, DT_STRING]; "
    "attr=Tsplits:type,default=DT_INT64,allowed=[DT_INT32, DT_INT64]; attr=return_nbest:bool,default=false; "
    "is_stateful=true"
)


def _token_shapes(count: int) -> Any:
    def rule(handle: Tensor, input: TensorShape, *args: Any) -> list[TensorShape]:
        strings = None if args[-1] else input.num_elements()
        splits = TensorShape([None if strings is None else strings + 1])
        return [TensorShape([None]), splits, *[TensorShape([None])] * (count - 2)]

    return rule


@string_op("SentencepieceTokenizeOp", shape=_token_shapes(2), signature=_TOKENIZES.format(""))
def _tokenize_op(
    sp_handle: Raw, input: StringArray, nbest_size: Raw, alpha: Raw, add_bos: Raw, add_eos: Raw, reverse: Raw,
    out_type: DType = int32, Tsplits: DType = int64, return_nbest: bool = False,
) -> tuple[Raw, ...]:  # fmt: skip
    """Splits strings into pieces."""
    kind = str if out_type is string else int
    rows = _encode_strings(sp_handle, input, nbest_size, alpha, add_bos, add_eos, reverse, kind, return_nbest)
    return _values_of([v for row in rows for v in row], out_type), splits_of_rows(rows, Tsplits)


@string_op(
    "SentencepieceTokenizeWithOffsetsOp", shape=_token_shapes(4),
    signature=_TOKENIZES.format(", output_offset_starts:int64, output_offset_limits:int64"),
)  # fmt: skip
def _tokenize_with_offsets_op(
    sp_handle: Raw, input: StringArray, nbest_size: Raw, alpha: Raw, add_bos: Raw, add_eos: Raw, reverse: Raw,
    out_type: DType = int32, Tsplits: DType = int64, return_nbest: bool = False,
) -> tuple[Raw, ...]:  # fmt: skip
    """Splits strings into pieces, with their places."""
    rows = _encode_strings(sp_handle, input, nbest_size, alpha, add_bos, add_eos, reverse, _Place, return_nbest)
    pieces = [piece for row in rows for piece in row]
    values = _values_of([p.piece if out_type is string else p.id for p in pieces], out_type)
    places = [raw_value([getattr(p, end) for p in pieces], int64) for end in ("begin", "end")]
    return values, splits_of_rows(rows, Tsplits), *places


@string_op(
    "SentencepieceDetokenizeOp",
    shape=lambda handle, values, splits, *_: rows_of_splits(splits),
    signature="sp_handle:resource, input_values:T, input_splits:Tsplits, add_bos:bool, add_eos:bool, reverse:bool -> "
    "output:string; attr=T:type,default=DT_INT32,allowed=[DT_INT32, DT_STRING]; "
    "attr=Tsplits:type,default=DT_INT64,allowed=[DT_INT32, DT_INT64]; is_stateful=true",
)  # fmt: skip
def _detokenize_op(
    sp_handle: Raw, input_values: Raw, input_splits: torch.Tensor, add_bos: Raw, add_eos: Raw, reverse: Raw
) -> StringArray:
    """Joins pieces."""
    processor, tokens, ends = _processor_of(sp_handle), input_values.tolist(), input_splits.tolist()
    if not ends:
        raise invalid("input_splits must have at least 1 element.")
    if ends[0] < 0 or ends[-1] > len(tokens) or any(a > b for a, b in zip(ends, ends[1:], strict=False)):
        raise OutOfRangeError.of(f"Splits and values do not match; splits {ends} but values size is {len(tokens)}")
    tokens = [t.decode("utf-8", "replace") if type(t) is bytes else t for t in tokens]
    rows = [tokens[a:b][:: -1 if reverse else 1] for a, b in zip(ends, ends[1:], strict=False)]
    texts = [processor.run(processor.model.decode, row, out_type=bytes) if row else b"" for row in rows]
    return StringArray.of(texts)


@string_op(
    "SentencepieceVocabSizeOp",
    lambda handle: torch.tensor(_processor_of(handle).model.get_piece_size(), dtype=torch.int32),
    shape=scalar, signature="sp_handle:resource -> vocab_size:int32; is_stateful=true",
)  # fmt: skip
def _vocab_size_op(sp_handle: TensorLike, name: str | None = None) -> Any:
    """Counts the pieces of a model."""


@string_op("SentencepieceIdToStringOp", shape=lambda handle, ids: ids,
           signature="sp_handle:resource, input:int32 -> values:string; is_stateful=true")  # fmt: skip
def _pieces_of_ids_op(sp_handle: Raw, input: torch.Tensor) -> StringArray:
    """Looks up pieces."""
    processor = _processor_of(sp_handle)
    pieces = processor.run(processor.model.id_to_piece, input.reshape(-1).tolist())
    return StringArray.of([piece.encode() for piece in pieces], tuple(input.shape))


@string_op("SentencepieceStringToIdOp", shape=lambda handle, pieces: pieces,
           signature="sp_handle:resource, input:string -> values:int32; is_stateful=true")  # fmt: skip
def _ids_of_pieces_op(sp_handle: Raw, input: StringArray) -> torch.Tensor:
    """Looks up the numbers of pieces."""
    processor = _processor_of(sp_handle)
    texts = [piece.decode("utf-8", "replace") for piece in input.flat]
    ids = processor.run(processor.model.piece_to_id, texts)
    return torch.tensor(ids, dtype=torch.int32).reshape(input.shape)


class _Model(SavedResource):
    """The model of a tokenizer."""

    def __init__(self, model: bytes) -> None:
        super().__init__()
        self._model = model

    def _create_resource(self) -> Any:
        return _model_op(self._model)

    @cached_property
    def _saved_functions(self) -> dict[str, Any]:
        return saved_functions(self._create_resource, lambda: None)


class SentencepieceTokenizer(TokenizerWithOffsets, Detokenizer):
    """Splits text into pieces of a model of SentencePiece.

    Args:
        model: the bytes of the model.
        out_type: the dtype of the tokens: int32 or string.
        nbest_size: 0 or 1 for the best split. Otherwise splits are drawn: of that many best ones, or of all if it is
            negative. A scalar, or a vector with a number for each string.
        alpha: smooths the probabilities of these splits.
        reverse: turns the tokens of a string around.
        add_bos, add_eos: add the tokens for the beginning and the end of a text.
        return_nbest: returns `nbest_size` splits of each string as rows.
        name: ignored.

    Raises:
        ImportError: the extra `text` is not installed.
        InternalError: `model` is no model.

    Example:
        >>> from tapeflow import text
        >>> with open("spm.model", "rb") as file:  # doctest: +SKIP
        ...     tokenizer = text.SentencepieceTokenizer(file.read())
        >>> tokenizer.tokenize(["hello world"])  # doctest: +SKIP
    """

    def __init__(
        self,
        model: Any = None,
        out_type: DTypeLike = int32,
        nbest_size: TensorLike = 0,
        alpha: TensorLike = 1.0,
        reverse: bool = False,
        add_bos: bool = False,
        add_eos: bool = False,
        return_nbest: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _require_module("sentencepiece")
        self.nbest_size, self.alpha, self.reverse = nbest_size, alpha, reverse
        self.out_type, self.add_bos, self.add_eos = as_dtype(out_type), add_bos, add_eos
        self.return_nbest = return_nbest
        data = model.numpy() if isinstance(model, Tensor) else model
        self._model_resource = _Model(bytes(data or b""))
        _ = self._model_resource.resource_handle

    def _run(self, op: Callable[..., Any], vector: Tensor) -> Any:
        options = self.add_bos, self.add_eos, self.reverse
        return op(
            self._model_resource.resource_handle, vector, self.nbest_size, self.alpha, *options, self.out_type,
            return_nbest=self.return_nbest,
        )  # fmt: skip

    def tokenize(self, input: TensorLike, name: str | None = None) -> Any:
        """Splits text into pieces.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The tokens, with one dimension more.

        Raises:
            ValueError: the rank of `input` is not static.
        """
        return split_rows(input, lambda vector: self._run(_tokenize_op, vector))[0]

    def tokenize_with_offsets(self, input: TensorLike, name: str | None = None) -> Any:
        """Splits text into pieces, and finds the bytes of each.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            The tokens, and the offsets of their first bytes and of their ends, with one dimension more.

        Raises:
            ValueError: the rank of `input` is not static.
        """
        return tuple(split_rows(input, lambda vector: self._run(_tokenize_with_offsets_op, vector)))

    def detokenize(self, input: TensorLike, name: str | None = None) -> Any:
        """Joins pieces to text.

        Args:
            input: tokens, int32 or strings, a tensor or `RaggedTensor`.

        Returns:
            Strings, with one dimension less.

        Raises:
            ValueError: the rank of `input` is 0 or not static.
            OutOfRangeError: there is no such piece.
        """
        tokens = ragged_or_tensor(input)
        rank = tokens.shape.rank
        if not rank:
            raise ValueError("Rank of `input` must be statically known, and at least 1.")
        if rank == 1:
            return reshape(self.detokenize(expand_dims(tokens, 0)), [])
        if not isinstance(tokens, RaggedTensor):
            tokens = RaggedTensor.from_tensor(tokens, ragged_rank=rank - 1)
        if tokens.ragged_rank > 1:
            return tokens.with_values(self.detokenize(tokens.values))
        if tokens.flat_values.shape.rank > 1:
            return tokens.with_flat_values(self.detokenize(tokens.flat_values))
        handle, options = self._model_resource.resource_handle, (self.add_bos, self.add_eos, self.reverse)
        return _detokenize_op(handle, tokens.values, tokens.row_splits, *options)

    def vocab_size(self, name: str | None = None) -> Tensor:
        """Returns the number of pieces, an int32 scalar."""
        return _vocab_size_op(self._model_resource.resource_handle)

    def _look_up(self, op: Callable[..., Any], input: TensorLike) -> Any:
        values = ragged_or_tensor(input)
        if isinstance(values, RaggedTensor):
            return values.with_flat_values(self._look_up(op, values.flat_values))
        return op(self._model_resource.resource_handle, values)

    def id_to_string(self, input: TensorLike, name: str | None = None) -> Any:
        """Returns pieces by their numbers.

        Args:
            input: int32, a tensor or `RaggedTensor`.

        Returns:
            Strings, in the shape of `input`.
        """
        return self._look_up(_pieces_of_ids_op, input)

    def string_to_id(self, input: TensorLike, name: str | None = None) -> Any:
        """Returns the numbers of pieces.

        Args:
            input: strings, a tensor or `RaggedTensor`.

        Returns:
            int32, in the shape of `input`.
        """
        return self._look_up(_ids_of_pieces_op, input)
