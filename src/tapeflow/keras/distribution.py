"""Keras's own `keras.distribution` on DTensors: Keras implements it for JAX alone. `add()` adds all of it.

- `list_devices` and `get_device_count` count the devices of all processes, which `initialize` connects.
- While a `DataParallel` or `ModelParallel` is in force, the variables of models, metrics and optimizers are DTensors in
  its layouts. Reading a variable as an array (`numpy()`, `get_weights()`, `save`) gathers the whole array from all
  processes. All processes have to take part.
- `fit`, `evaluate` and `predict` divide each batch among the processes. Each process reads its share. Logs and
  predictions cover all shares.
- `distribute_tensor` puts a tensor in a layout, within functions too.

As with JAX, several processes need batches of the same size: the dataset has to drop the remainder.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from keras import tree
from keras.distribution import TensorLayout
from keras.distribution import distribution as current_distribution
from keras.utils import set_random_seed

from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.core.values.variable import Variable, refuse_in_graphs
from tapeflow.experimental.dtensor import accelerators, clients
from tapeflow.experimental.dtensor.api import from_local, relayout
from tapeflow.experimental.dtensor.layout import Layout
from tapeflow.experimental.dtensor.mesh import Mesh, create_distributed_mesh, create_mesh
from tapeflow.experimental.dtensor.variable import DVariable
from tapeflow.keras import internals
from tapeflow.keras.internals import PRIVATE, replace, wrapper
from tapeflow.math.reduction import reduce_max


def add() -> None:
    """Adds the functions to Keras's backend; a second call does nothing."""
    distribution_lib = internals.distribution_lib
    if hasattr(distribution_lib, "distribute_tensor"):
        return
    for function in (
        list_devices, get_device_count, initialize, num_processes, process_id, distribute_tensor, distribute_data_input
    ):  # fmt: skip
        setattr(distribution_lib, function.__name__, function)
    distribution_lib.distribute_value = distribute_tensor
    replace(PRIVATE["distribution_lib"], "_to_backend_mesh", lambda to_mesh: _mesh_of)
    replace("keras:Variable", "_initialize", _initialize_in_layout)
    replace(PRIVATE["TensorFlowTrainer"], "_autoconvert_optionals", _divide_batches)


# ---- devices and processes -------------------------------------------------------------------------------------------


def list_devices(device_type: str | None = None) -> list[str]:
    """Returns the names of the devices of all processes, such as "cpu:0"; see `keras.distribution.list_devices`."""
    kind = (device_type or clients.preferred_device_type()).upper()
    return [f"{kind.lower()}:{i}" for i in range(clients.num_global_devices(kind))]


def get_device_count(device_type: str | None = None) -> int:
    """Returns the number of devices of all processes."""
    return len(list_devices(device_type))


def num_processes() -> int:
    """Returns the number of processes."""
    return clients.num_clients()


def process_id() -> int:
    """Returns the number of this process."""
    return clients.client_id()


def initialize(job_addresses: str | None, num_processes: int | None, process_id: int | None) -> None:
    """Meets the other processes, and has all begin with the same seed; see `keras.distribution.initialize`.

    Args:
        job_addresses: the addresses of all processes, separated by commas, or only the address of the first process,
            where all meet. None reads the environment variables of DTensors.
        num_processes: the number of processes; by default the number of addresses.
        process_id: the number of this process.

    Raises:
        ValueError: there are more or fewer addresses than processes.
        UnavailableError, DeadlineExceededError: the others could not be met.
    """
    if job_addresses is not None:
        addresses = job_addresses.split(",")
        count = len(addresses) if num_processes is None else num_processes
        if len(addresses) == 1:
            addresses *= count
        if len(addresses) != count:
            raise ValueError(
                f"The provided job_addresses {addresses} has {len(addresses)} jobs, but num_processes is {count}"
            )
        os.environ["DTENSOR_JOBS"] = ",".join(addresses)
    if process_id is not None:
        os.environ["DTENSOR_CLIENT_ID"] = str(process_id)
    accelerators.initialize_accelerator_system(experimental_reset_context=True)
    if internals.get_random_seed() is None:
        of_each = Layout(["process"], create_distributed_mesh([("process", clients.num_clients())], device_type="CPU"))
        set_random_seed(int(reduce_max(from_local([internals.make_default_seed()], of_each.to_string()))))


def _mesh_of(device_mesh: Any) -> Mesh:
    """Returns the mesh of DTensors for a `keras.distribution.DeviceMesh`.

    Raises:
        ValueError: with several processes, it does not have the devices of all, in their order.
    """
    dims = list(zip(device_mesh.axis_names, map(int, device_mesh.shape), strict=True))
    names = [str(name) for name in device_mesh.devices.flatten()]
    if clients.num_clients() == 1:
        return create_mesh(dims, devices=names)
    kind = names[0].partition(":")[0]
    if names != list_devices(kind):
        raise ValueError(
            f"A mesh of several processes has the devices of all, in their order: {list_devices(kind)}, not {names}."
        )
    return create_distributed_mesh(dims, device_type=kind.upper())


# ---- tensors and batches ---------------------------------------------------------------------------------------------


def _backend_layout(layout: Any) -> Layout:
    return layout.backend_layout if isinstance(layout, TensorLayout) else layout


def distribute_tensor(tensor: TensorLike, layout: Any) -> Tensor:
    """Returns a tensor in a layout.

    Args:
        tensor: a tensor that all processes have, or a DTensor.
        layout: a `keras.distribution.TensorLayout`, or the `Layout` of a DTensor.
    """
    return relayout(tensor, _backend_layout(layout))


def distribute_data_input(per_process_batch: Any, layout: Any, batch_dim_name: str | None = None) -> Tensor:
    """Returns a batch in a layout.

    Args:
        per_process_batch: this process's share.
        layout: a `keras.distribution.TensorLayout`, or the `Layout` of a DTensor.
        batch_dim_name: without effect: the layout says along which dimension batches are divided.

    Raises:
        InvalidArgumentError: the shares of the processes differ in size.
    """
    return from_local(per_process_batch, _backend_layout(layout).to_string())


@wrapper
def _divide_batches(autoconvert: Callable[..., Any], self: Any, step: Callable[..., Any]) -> Any:
    """Prepares the input of a step: divides batches."""

    @functools.wraps(step)
    def step_on_mesh(data: Any) -> Any:
        distribution = current_distribution()
        if distribution is None:
            return step(data)
        mesh = distribution.device_mesh.backend_mesh

        def divided(value: Any) -> Any:
            if not isinstance(value, (Tensor, np.ndarray)):
                return value
            return distribute_data_input(value, distribution.get_data_layout(value.shape))

        def whole(value: Any) -> Any:
            return relayout(value, Layout.replicated(mesh, value.shape.rank)) if isinstance(value, Tensor) else value

        return tree.map_structure(whole, step(tree.map_structure(divided, data)))

    return autoconvert(self, step_on_mesh)


# ---- variables -------------------------------------------------------------------------------------------------------


class _Weight(DVariable):
    """A variable on several devices, as one array."""

    def numpy(self) -> Any:
        """Returns the value of all devices; with several processes, all have to call this."""
        refuse_in_graphs("numpy")
        return EagerTensor(self._value.value.whole(), self.dtype).numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.numpy(), dtype=dtype)


@wrapper
def _initialize_in_layout(initialize: Callable[..., Any], self: Any, value: Any) -> None:
    """Creates a variable's value by the distribution in force."""
    distribution, layout = current_distribution(), getattr(self, "_layout", None)  # Keras 3.12 has no `_layout`
    if isinstance(value, Variable) or (distribution is None and layout is None):
        initialize(self, value)
        return
    if self._shape is None:
        self._shape = self._validate_shape(value.shape)
    if layout is None:
        self._layout = distribution.get_variable_layout(self)
    self._value = _Weight(
        value,
        dtype=self._dtype,
        layout=_backend_layout(self._layout),
        trainable=self.trainable,
        name=self.name,
        aggregation=self._map_aggregation(self.aggregation),
        synchronization=self._map_synchronization(self.synchronization),
    )
