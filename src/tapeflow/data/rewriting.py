"""A pipeline as it runs: rewritten so that batches are gathered whole.

Many elements of a dataset of rows (slices of tensors, a range, some of these zipped, or a map of scalars over them) can
be gathered at once, by their numbers. `shuffle`, `take`, `skip`, `repeat` and `shard` only choose among elements and
order them, whatever the elements are. So a batch at the end of such a chain needs no elements: the chain runs over
their numbers, and the batch gathers the rows with these numbers. A function whose ops compute many elements as
they compute each (`whole_batches.py`) may stand in between: it runs for the whole batch.
"""

from __future__ import annotations

from typing import Any

from tapeflow.data.batches import BatchDataset, RowBatches
from tapeflow.data.nodes import Chooser, Node, Numbers, OptionsDataset
from tapeflow.data.options import Options


def rewritten(dataset: Any) -> Any:
    """Returns the dataset that runs in place of another, with the same elements; cached, so that a dataset is rewritten
    once.
    """
    result = dataset.__dict__.get("_rewritten")
    if result is None:
        result = dataset if _left_alone(dataset.options()) else _rewrite(dataset)
        dataset.__dict__["_rewritten"] = result
    return result


def _left_alone(options: Options) -> bool:
    return options.experimental_optimization.apply_default_optimizations is False


def _rewrite(dataset: Any) -> Any:
    inputs = [_rewrite(i) for i in dataset._inputs()]
    if any(new is not old for new, old in zip(inputs, dataset._inputs(), strict=True)):
        dataset = dataset._over(inputs)
    if isinstance(dataset, OptionsDataset):
        return inputs[0]
    if isinstance(dataset, BatchDataset):
        chain, functions = [], []
        source = dataset._input_dataset
        while isinstance(source, Node):
            function = source._function_of_rows()
            if function is not None:
                functions.append(function)
            elif isinstance(source, Chooser):
                chain.append(source)
            else:
                break
            source = source._input_dataset
        rows = source._rows()
        if rows is not None:
            for function in reversed(functions):
                rows = rows.mapped(function)
            numbers: Any = Numbers(rows.count)
            for chooser in reversed(chain):
                numbers = chooser._over([numbers])
            return RowBatches(dataset, rows, numbers if chain else None)
    return dataset
