"""What hosted libraries ask of TensorFlow's eager runtime as a whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from tapeflow.compat.v1.defaults import get_default_graph
from tapeflow.core.device import Machine, current, machine
from tapeflow.core.device_spec import DeviceSpec
from tapeflow.core.scopes import init_scope
from tapeflow.core.settings import settings


class Context:
    """The runtime, as far as a library may touch it."""

    def clear_kernel_cache(self) -> None:
        """Is called by Keras's `clear_session`, which has emptied its state; there are no kernels to clear here: an
        op's is a function that is bound when the op is defined."""
        state = sys.modules.get("tapeflow.keras.state")
        if state is not None:
            state.fill()

    def executing_eagerly(self) -> bool:
        """Returns whether ops of this thread run as they are called."""
        from tapeflow.core.scopes import executing_eagerly

        return executing_eagerly()

    @property
    def device_name(self) -> str:
        """The name of the device that scopes say; empty where there is none."""
        device = current()
        return "" if device is None else device.name

    @property
    def device_spec(self) -> DeviceSpec:
        """That device, of which nothing is known where there is none."""
        return DeviceSpec.from_string(self.device_name)


_context = Context()


def context() -> Context:
    """Returns the one context there is."""
    return _context


@contextmanager
def graph_mode() -> Iterator[None]:
    """Ops inside go to the default graph."""
    with get_default_graph().as_default():
        yield


def get_device_name() -> str:
    """Returns the name of the device that scopes say; empty where there is none."""
    return _context.device_name


def _reset_context() -> None:
    """Forgets how `tf.config` said to use the devices, and lets it say so again."""
    vars(machine).update(vars(Machine()))


def async_wait() -> None:
    """Waits until the kernels that were launched on GPUs are done."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


@contextmanager
def eager_mode() -> Iterator[None]:
    """Ops inside run as they are called, even where a graph is being built around."""
    with init_scope():
        yield


def enable_op_determinism() -> None:
    """See `tf.config.experimental.enable_op_determinism`."""
    from tapeflow.config import experimental

    experimental.enable_op_determinism()


def disable_op_determinism() -> None:
    """Takes back `enable_op_determinism`."""
    settings.deterministic = False
    torch.use_deterministic_algorithms(False)


def is_op_determinism_enabled() -> bool:
    """Returns whether `enable_op_determinism` is in force."""
    return settings.deterministic
