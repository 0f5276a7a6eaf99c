"""`Dataset.rejection_resample`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.array.concat_and_split import stack, tile
from tapeflow.array.creation import fill
from tapeflow.array.gathers import gather
from tapeflow.array.ranges import one_hot
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, int32, int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.data.spec import DatasetSpec
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_max, reduce_min, reduce_sum
from tapeflow.random.stateful import uniform

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

_BATCH, _SMOOTHING = 32, 10  # the distribution is estimated anew for so many; each class counts as seen so often
_AHEAD = 3  # elements that pass the filter, computed ahead


def rejection_resample(
    dataset: Dataset, class_func: Callable[..., Any], target_dist: TensorLike, initial_dist: TensorLike | None,
    seed: Any,
) -> Any:  # fmt: skip
    """Returns pairs of a class and an element, with a target distribution of the classes.

    As few elements as possible are dropped: the pairs are drawn from all elements, and from those that pass a filter.
    """
    datasets: Any = DatasetSpec.dataset
    target = cast(convert(target_dist), float32)
    labelled = dataset.map(lambda *x: (class_func(*x), x if len(x) > 1 else x[0]))
    spec = labelled.element_spec[0]
    if not (type(spec) is TensorSpec and spec.dtype in (int32, int64) and spec.shape.rank in (0, None)):
        raise TypeError(f"Invalid `class_func`. `class_func` must return an integer scalar, and gives {spec}.")
    if initial_dist is None:
        distributions = _estimate_distribution(dataset.map(class_func), target)
        chances = distributions.map(lambda initial: _acceptance_chances(initial, target))
        passing = datasets.zip((chances, labelled)).filter(lambda chance, pair: _is_accepted(chance[0], pair[0], seed))
        passing = passing.map(lambda chance, pair: pair)
        weights = chances.map(lambda accept, mix: stack([mix, 1.0 - mix]))
    else:
        initial = cast(convert(initial_dist), float32)
        accept, mix = _acceptance_chances(initial, target)
        passing = labelled.filter(lambda label, element: _is_accepted(accept, label, seed))
        if isinstance(mix, EagerTensor):
            least = np.min(target.numpy() / initial.numpy())
            if least == 1:
                return labelled
            if least == 0:
                return passing.prefetch(_AHEAD)
        weights = stack([mix, 1.0 - mix])
    both = [labelled, passing.prefetch(_AHEAD)]
    return datasets.sample_from_datasets(both, weights, seed, stop_on_empty_dataset=True)


def _estimate_distribution(labels: Dataset, target: Tensor) -> Any:
    """Returns a dataset of the distribution of the labels, as far as they have been seen, for each of them."""
    count = target.shape[0]

    def seen_so_far(seen: Tensor, batch: Tensor) -> Any:
        seen = seen + reduce_sum(one_hot(batch, count, dtype=int64), 0)
        return seen, tile(expand_dims(cast(seen / reduce_sum(seen), float32), 0), [_BATCH, 1])

    return labels.batch(_BATCH).scan(fill([count], np.int64(_SMOOTHING)), seen_so_far).unbatch()


def _acceptance_chances(initial: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Returns the probabilities that the filter accepts each class, and that a pair is drawn from all elements."""
    ratio = target / (initial + np.finfo(np.float32).tiny)
    least = reduce_min(ratio)
    return (ratio - least) / (reduce_max(ratio) - least), least


def _is_accepted(accept: Tensor, label: Tensor, seed: int | None) -> Any:
    return uniform([], seed=seed) < gather(accept, label)
