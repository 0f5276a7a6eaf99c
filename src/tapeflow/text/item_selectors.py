"""Selectors of items in ragged tensors, and the masks of masked language models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.concat_and_split import tile, unstack
from tapeflow.array.creation import ones_like, zeros, zeros_like
from tapeflow.array.creation import range as range_op
from tapeflow.array.gathers import gather
from tapeflow.array.masks import where
from tapeflow.array.properties import shape, size
from tapeflow.array.reshapes import broadcast_to, expand_dims, reshape
from tapeflow.array.scatters import tensor_scatter_nd_update
from tapeflow.control.conditions_and_loops import Assert
from tapeflow.control.map_and_scan import map_fn
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bool_, float32, int64
from tapeflow.core.values.tensor import Tensor
from tapeflow.math import ceil, logical_and, minimum, not_equal, reduce_all
from tapeflow.math.casting import cast
from tapeflow.ragged import boolean_mask
from tapeflow.ragged import range as ragged_range
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.random import shuffle, uniform
from tapeflow.text.tokenizer import ragged_or_tensor


class ItemSelector:
    """Selects all items but those with some numbers; the base of other selectors.

    Args:
        unselectable_ids: the numbers of items that are never selected, a list or a vector.

    Raises:
        ValueError: `unselectable_ids` is something else.

    Example:
        >>> from tapeflow.text.item_selectors import ItemSelector
        >>> ItemSelector([0]).get_selection_mask(tf.ragged.constant([[1, 0]]), axis=1).to_list()
        [[True, False]]
    """

    def __init__(self, unselectable_ids: Any = None) -> None:
        if isinstance(unselectable_ids, Tensor):
            if unselectable_ids.shape.rank not in (1, None):
                raise ValueError(
                    f"`unselectable_ids` must have a rank of 1 or None, but was: {unselectable_ids.shape.rank}"
                )
            unselectable_ids = unstack(unselectable_ids)
        if not isinstance(unselectable_ids, (list, type(None))):
            raise ValueError(f"`unselectable_ids` must be a list or a vector, instead it is a {unselectable_ids}")
        self._unselectable_ids = unselectable_ids or []

    @property
    def unselectable_ids(self) -> list[Any]:
        """The numbers of items that are never selected."""
        return self._unselectable_ids

    def get_selectable(self, input_ids: Any, axis: int) -> Any:
        """Returns which items may be selected.

        Args:
            input_ids: the items, a `RaggedTensor`.
            axis: the dimension of the items.

        Returns:
            A ragged tensor of booleans.
        """
        items = input_ids.merge_dims(1, axis) if axis > 1 else input_ids
        flags = [not_equal(items.flat_values, i) for i in self._unselectable_ids]
        flat = reduce_all(flags, 0) if flags else ones_like(items.flat_values, dtype=bool_)
        return _reduce_inner(items.with_flat_values(flat), _positive_axis(axis, items))

    def get_selection_mask(self, input_ids: TensorLike, axis: int = 1) -> Any:
        """Returns which items are selected: see `get_selectable`."""
        return self.get_selectable(input_ids, axis)


def _positive_axis(axis: int, items: RaggedTensor) -> int:
    rank = items.ragged_rank + items.flat_values.shape.rank
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis + rank if axis < 0 else axis


def _reduce_inner(flags: Tensor | RaggedTensor, axis: int) -> Any:
    """Returns for each item along a dimension whether all that it consists of is True."""
    return reduce_all(flags, list(range(flags.ragged_rank, axis, -1))) if axis < flags.ragged_rank else flags


def _item_positions(items: RaggedTensor) -> Any:
    """Returns the places of items among all."""
    return items.with_flat_values(range_op(size(items.flat_values)))


class _NItemSelector(ItemSelector):
    """Selects a number of items at one end of each row."""

    _from_end = False

    def __init__(self, num_to_select: TensorLike, unselectable_ids: Any = None) -> None:
        super().__init__(unselectable_ids)
        self._num_to_select = num_to_select

    def get_selectable(self, input_ids: Any, axis: int) -> Any:
        """Returns which items are selected.

        Args:
            input_ids: the items, a `RaggedTensor`.
            axis: the dimension of the items.

        Returns:
            A ragged tensor of booleans.
        """
        allowed = super().get_selectable(input_ids, axis)
        axis = _positive_axis(axis, input_ids)
        places = boolean_mask(_item_positions(input_ids), allowed)
        places = places.merge_dims(1, axis) if axis > 1 else places
        lengths = places.row_lengths()
        wanted = broadcast_to(reshape(convert(self._num_to_select), [-1]), shape(lengths))
        wanted = minimum(cast(wanted, lengths.dtype), lengths)
        numbers = ragged_range(lengths)
        row = numbers.value_rowids()
        last = self._from_end
        chosen = numbers.values >= gather(lengths - wanted, row) if last else numbers.values < gather(wanted, row)
        selected = boolean_mask(places, numbers.with_values(chosen)).flat_values
        flat = tensor_scatter_nd_update(
            zeros(shape(input_ids.flat_values), bool_), expand_dims(selected, -1), ones_like(selected, dtype=bool_)
        )
        results = input_ids.with_flat_values(flat)
        for _ in range(input_ids.shape.rank - axis - 1):
            results = reduce_all(results, -1)
        return results


class FirstNItemSelector(_NItemSelector):
    """Selects the first items of each row.

    Args:
        num_to_select: how many; an int, or integers with one for each row.
        unselectable_ids: the numbers of items that are never selected.

    Example:
        >>> from tapeflow import text
        >>> text.FirstNItemSelector(1).get_selection_mask(tf.ragged.constant([[5, 6]]), axis=1).to_list()
        [[True, False]]
    """


class LastNItemSelector(_NItemSelector):
    """Selects the last items of each row.

    Args:
        num_to_select: how many; an int, or integers with one for each row.
        unselectable_ids: the numbers of items that are never selected.

    Example:
        >>> from tapeflow import text
        >>> text.LastNItemSelector(1).get_selection_mask(tf.ragged.constant([[5, 6]]), axis=1).to_list()
        [[False, True]]
    """

    _from_end = True


class RandomItemSelector(ItemSelector):
    """Selects items of each row at random.

    Args:
        max_selections_per_batch: how many at most, an int.
        selection_rate: the part of the items that is selected, a float.
        unselectable_ids: the numbers of items that are never selected.
        shuffle_fn: shuffles a vector; by default `tf.random.shuffle`, which follows `tf.random.set_seed`.

    Raises:
        ValueError: `selection_rate` is None.

    Example:
        >>> from tapeflow import text
        >>> selector = text.RandomItemSelector(2, selection_rate=0.5, unselectable_ids=[0])
        >>> int(tf.reduce_sum(tf.cast(selector.get_selection_mask(tf.ragged.constant([[0, 1, 2, 3]]), 1), tf.int32)))
        2
    """

    def __init__(
        self,
        max_selections_per_batch: int,
        selection_rate: float,
        unselectable_ids: Any = None,
        shuffle_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        if selection_rate is None:
            raise ValueError("`selection_rate` cannot be None")
        super().__init__(unselectable_ids)
        self._shuffle_fn, self._rate = shuffle_fn or shuffle, selection_rate
        self._most = max_selections_per_batch

    @property
    def shuffle_fn(self) -> Callable[[Any], Any]:
        """Shuffles a vector."""
        return self._shuffle_fn

    @property
    def max_selections_per_batch(self) -> int:
        """The largest number of items that is selected in a row."""
        return self._most

    @property
    def selection_rate(self) -> float:
        """The part of the items that is selected."""
        return self._rate

    def get_selection_mask(self, input_ids: Any, axis: int = 1) -> Any:
        """Returns which items are selected.

        Args:
            input_ids: the items, a `RaggedTensor`.
            axis: the dimension of the items.

        Returns:
            A ragged tensor of booleans.
        """
        places = boolean_mask(_item_positions(input_ids), self.get_selectable(input_ids, axis))
        places = places.merge_dims(1, axis) if axis > 1 else places
        wanted = minimum(ceil(cast(places.row_lengths(), float32) * self._rate), cast(self._most, float32))

        def choose(row: Tensor) -> Any:
            items, count = row
            if isinstance(items, RaggedTensor):
                return gather(items, self._shuffle_fn(range_op(items.nrows()))[:count])
            return self._shuffle_fn(items)[:count]

        spec = RaggedTensorSpec(ragged_rank=places.ragged_rank - 1, dtype=places.dtype)
        chosen = map_fn(choose, (places, cast(wanted, int64)), fn_output_signature=spec).flat_values
        flat = tensor_scatter_nd_update(
            zeros_like(input_ids.flat_values, dtype=bool_), expand_dims(chosen, -1), ones_like(chosen, dtype=bool_)
        )
        return _reduce_inner(input_ids.with_flat_values(flat), axis)


class MaskValuesChooser:
    """Chooses replacements of masked tokens: mostly the mask, sometimes a random token, or the same one.

    Args:
        vocab_size: the number of tokens, an int.
        mask_token: the number of the mask.
        mask_token_rate: how often the mask is chosen.
        random_token_rate: how often a random token is chosen.

    Raises:
        ValueError: a rate is None.

    Example:
        >>> from tapeflow import text
        >>> chooser = text.MaskValuesChooser(100, mask_token=7, mask_token_rate=1.0, random_token_rate=0.0)
        >>> chooser.get_mask_values(tf.ragged.constant([[1, 2]])).to_list()
        [[7, 7]]
    """

    def __init__(
        self, vocab_size: int, mask_token: int, mask_token_rate: float = 0.8, random_token_rate: float = 0.1
    ) -> None:
        if mask_token_rate is None:
            raise ValueError("`mask_token_rate` cannot be None")
        if random_token_rate is None:
            raise ValueError("`random_token_rate` cannot be None")
        self._vocab_size, self._mask_token = vocab_size, mask_token
        self._mask_token_rate, self._random_token_rate = mask_token_rate, random_token_rate

    @property
    def mask_token(self) -> int:
        """The number of the mask."""
        return self._mask_token

    @property
    def random_token_rate(self) -> float:
        """The rate of random tokens."""
        return self._random_token_rate

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        return self._vocab_size

    def get_mask_values(self, masked_lm_ids: Any) -> Any:
        """Returns replacements of tokens.

        Args:
            masked_lm_ids: the tokens, a `RaggedTensor` of integers.

        Returns:
            A ragged tensor of the same form.

        Raises:
            InvalidArgumentError: the rates are more than 1 together.
        """
        message = "mask_token_rate + random_token_rate must be <= 1"
        both = self._mask_token_rate + self._random_token_rate
        with control_dependencies([Assert(both <= 1, [message])]):
            values = masked_lm_ids.flat_values
            draws = uniform(shape(values), 0, 1, dtype=float32)
        masks = cast(tile([self._mask_token], shape(values)), values.dtype)
        values = where(draws < cast(self._mask_token_rate, float32), masks, values)
        others = cast(uniform(shape(values), maxval=cast(self._vocab_size, float32)), values.dtype)
        is_random = logical_and(draws > self._mask_token_rate, draws < both)
        return masked_lm_ids.with_flat_values(where(is_random, others, values))


def mask_language_model(
    input_ids: TensorLike, item_selector: ItemSelector, mask_values_chooser: MaskValuesChooser, axis: int = 1
) -> tuple[Any, Any, Any]:
    """Masks tokens, for a model to guess.

    Args:
        input_ids: the tokens, a `RaggedTensor` of integers.
        item_selector: selects the tokens to mask.
        mask_values_chooser: chooses their replacements.
        axis: the dimension to mask along: with 1 and tokens in words, whole words.

    Returns:
        The tokens with masks, the places of the masked ones in their rows, and the masked ones.

    Raises:
        ValueError: `item_selector` or `mask_values_chooser` is something else.

    Example:
        >>> from tapeflow import text
        >>> chooser = text.MaskValuesChooser(100, mask_token=7, mask_token_rate=1.0, random_token_rate=0.0)
        >>> rows = text.mask_language_model(tf.ragged.constant([[1, 2]]), text.FirstNItemSelector(1), chooser)
        >>> [r.to_list() for r in rows]
        [[[7, 2]], [[0]], [[1]]]
    """
    if not isinstance(item_selector, ItemSelector):
        raise ValueError("`item_selector` must be an instance of `ItemSelector`")
    if not isinstance(mask_values_chooser, MaskValuesChooser):
        raise ValueError("`mask_values_chooser` must be an instance of `MaskValuesChooser`")
    tokens = ragged_or_tensor(input_ids)
    selected = item_selector.get_selection_mask(tokens, axis)
    flat = tokens.merge_dims(1, -1) if tokens.ragged_rank > 1 else tokens
    places = boolean_mask(tokens.with_flat_values(ragged_range(flat.row_lengths()).flat_values), selected)
    places = places.merge_dims(1, -1) if places.ragged_rank > 1 else places
    masked = gather(flat, places, batch_dims=1)
    values = mask_values_chooser.get_mask_values(masked)
    indices = gather(_item_positions(flat), places, batch_dims=1).flat_values
    changed = tensor_scatter_nd_update(flat.flat_values, expand_dims(indices, -1), cast(values.flat_values, flat.dtype))
    return flat.with_flat_values(changed), places, masked
