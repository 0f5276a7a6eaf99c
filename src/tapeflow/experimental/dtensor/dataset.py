"""`DTensorDataset`: the batches of a dataset, divided among the devices of a mesh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.data.dataset import Dataset
from tapeflow.data.node import Node
from tapeflow.experimental.dtensor.api import relayout
from tapeflow.experimental.dtensor.layout import Layout
from tapeflow.experimental.dtensor.mesh import Mesh


class DTensorDataset(Dataset):
    """The global batches of a dataset as DTensors.

    Every client goes through the whole dataset, and its devices hold their parts of each batch.

    Args:
        dataset: a dataset of single elements.
        mesh: a `tf.experimental.dtensor.Mesh`.
        layouts: the layouts of the batches, in the structure of the elements.
        global_batch_size: an int, the number of elements in a batch of all devices.
        dataset_already_batched: whether the dataset has batches of the size of one device's part along `batch_dim`;
            False by default.
        batch_dim: a string, the mesh dimension that divides batches; None if none does.
        prefetch: an int, the number of batches to prepare in advance; None for none.
        tf_data_service_config: must be None.

    Raises:
        NotImplementedError: there is a configuration of a service.
        TypeError, ValueError: the layouts do not fit the elements, or the batches their size.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> layout = tf.experimental.dtensor.Layout(["x"], mesh)
        >>> ds = tf.experimental.dtensor.DTensorDataset(
        ...     tf.data.Dataset.range(4), global_batch_size=2, mesh=mesh, layouts=layout, batch_dim="x")
        >>> [tf.experimental.dtensor.unpack(batch)[0].numpy().tolist() for batch in ds]
        [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        mesh: Mesh,
        layouts: Layout | Mapping[str, Any],
        global_batch_size: int,
        dataset_already_batched: bool = False,
        batch_dim: str | None = None,
        prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ) -> None:
        if tf_data_service_config is not None:
            raise NotImplementedError("Multi-client DTensorDataset is currently not supported. Check b/271162918.")
        nest.assert_same_structure(dataset.element_spec, layouts)
        flat, specs = nest.flatten(layouts), nest.flatten(dataset.element_spec)
        replicas = 1
        if batch_dim:
            replicas = mesh.dim_size(batch_dim)
            for layout in flat:
                if batch_dim != layout.sharding_specs[0]:
                    raise ValueError(
                        f"batch_dim {batch_dim} was specified but at least one layout did not contain it: {layout}"
                    )
        _check_fit(flat, specs, dataset_already_batched)
        size = global_batch_size // replicas
        if dataset_already_batched:
            if specs[0].shape[0] != size:
                raise ValueError(
                    "per_replica_batch_size does not matched expected size based on the mesh, got "
                    f"{specs[0].shape[0]} but expected {size}."
                )
            dataset = dataset.unbatch()
        self._whole_batches = dataset.batch(size * replicas, drop_remainder=True)
        if prefetch is not None:
            self._whole_batches = self._whole_batches.prefetch(prefetch)
        self._layouts = layouts
        self._spec = nest.map_structure(
            lambda s: TensorSpec(TensorShape([global_batch_size]).concatenate(s.shape[1:]), s.dtype),
            self._whole_batches.element_spec,
        )
        super().__init__(_Divided(dataset._node, self._spec))

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if state.graph is not None:
            raise RuntimeError("Iterating over a DTensorDataset is only supported outside of functions.")
        return DTensorIterator(iter(self._whole_batches), self._layouts, self._spec)


class _Divided(Node):
    """The pipeline that a `DTensorDataset` divides. It can't be transformed."""

    divided: Node
    spec: Any

    same_size = True

    def iterate(self) -> Any:
        raise NotImplementedError("A DTensorDataset can't be transformed: transform the dataset that it divides.")


class DTensorIterator:
    """An iterator over the batches of a `DTensorDataset`.

    Args:
        batches: an iterator over whole batches.
        layouts: their layouts.
        element_spec: their specs.

    Attributes:
        element_spec: the specs of whole batches.
    """

    def __init__(self, batches: Iterator[Any], layouts: Any, element_spec: Any) -> None:
        self._whole_batches, self._layouts, self.element_spec = batches, layouts, element_spec

    def __iter__(self) -> DTensorIterator:
        return self

    def __next__(self) -> Any:
        return nest.map_structure(relayout, next(self._whole_batches), self._layouts)


def _check_fit(layouts: list[Layout], specs: list[Any], already_batched: bool) -> None:
    for layout, spec in zip(layouts, specs, strict=True):
        rank = spec.shape.rank + (not already_batched)
        if layout.rank != rank:
            raise ValueError(
                f"Expected layout with rank {rank} for element spec {spec}, got layout {layout.sharding_specs}. Check "
                "that the dataset is not batched before passing to DTensorDataset."
            )
        if already_batched and spec.shape[0] is None:
            raise ValueError(
                f"Size of batch dimension of element spec {spec} is None. Ensure drop_remainder=True when batching "
                "the dataset."
            )
