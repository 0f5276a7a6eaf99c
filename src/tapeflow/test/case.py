"""`tf.test.TestCase`: values, errors, messages, threads and sessions."""

from __future__ import annotations

import contextlib
import os
import random
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeflow import version
from tapeflow.core.context import state
from tapeflow.core.device_spec import DeviceSpec
from tapeflow.core.errors import InvalidArgumentError, OpError
from tapeflow.core.hooks import hooks
from tapeflow.core.rng.seeds import set_seed
from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.values import nest
from tapeflow.core.values.indexed_slices import IndexedSlices, IndexedSlicesValue
from tapeflow.graph.ir.graph import Graph, current_graph
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.ragged.value import RaggedTensorValue
from tapeflow.sparse.tensor import SparseTensor, SparseTensorValue
from tapeflow.test.arrays import ArrayAssertions
from tapeflow.test.graph_defs import as_message, difference

_SEED = 87654321  # the seed of every test, as in TensorFlow

_folders: list[tempfile.TemporaryDirectory[str]] = []  # of tests that ran


class TestCase(ArrayAssertions):
    """A `unittest.TestCase` with assertions about tensors.

    Every test starts from the same seeds and an empty default graph.

    Example:
        >>> class SquareTest(tf.test.TestCase):
        ...     def test_square(self):
        ...         self.assertAllClose(tf.square([1.0, 2.0]), [1.0, 4.0])
        >>> import unittest
        >>> SquareTest("test_square").run(unittest.TestResult()).wasSuccessful()
        True
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._cached_session: tuple[Any, Any, bool] | None = None
        self._folder: str | None = None

    def setUp(self) -> None:
        """Sets the seeds and an empty default graph. A subclass that overrides it must call it."""
        super().setUp()
        self._drop_session()
        random.seed(_SEED)
        np.random.seed(_SEED)
        if state.graph is None or state.graph is state.default_graph:  # a test may begin in another graph
            hooks.compat_module("compat.v1").reset_default_graph()
        set_seed(_SEED)

    def tearDown(self) -> None:
        """Checks that threads have been joined, and closes sessions."""
        self.assertTrue(all(t.joined for t in self._threads), "A checked thread was not joined.")
        self._drop_session()
        super().tearDown()

    def get_temp_dir(self) -> str:
        """Returns a folder of this test, the same on every call; it is there until the process ends."""
        if self._folder is None:
            parent = os.environ.get("TEST_TMPDIR")
            holder = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
            _folders.append(holder)  # a later test may still stand in it
            self._folder = holder.name
        return self._folder

    # Values

    def evaluate(self, tensors: Any) -> Any:
        """Returns the values of a nest of tensors as arrays: through the session while a graph is being built.

        Args:
            tensors: a nest of tensors, or of functions that return tensors.

        Raises:
            ValueError: a value is not a tensor.
        """
        if executing_eagerly():
            return nest.map_structure(self._value, tensors)
        session = self._session_in_force()
        return session.run(tensors)

    def _value(self, tensor: Any) -> Any:
        if tensor is None:
            return None
        if callable(tensor) and not hasattr(tensor, "numpy"):
            return self.evaluate(tensor())
        if isinstance(tensor, SparseTensor):
            return SparseTensorValue(tensor.indices.numpy(), tensor.values.numpy(), tensor.dense_shape.numpy())
        if isinstance(tensor, RaggedTensor):
            return RaggedTensorValue(self._value(tensor.values), tensor.row_splits.numpy())
        if isinstance(tensor, IndexedSlices):
            return IndexedSlicesValue(tensor.values.numpy(), tensor.indices.numpy(), self._value(tensor.dense_shape))
        if not hasattr(tensor, "numpy"):
            raise ValueError(f"Unsupported type {type(tensor).__name__!r}.")
        return tensor.numpy()

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Returns the values of two tensors; other values unchanged.

        Args:
            a, b: any values.
        """
        if hasattr(a, "numpy") and hasattr(b, "numpy"):
            return self.evaluate(a), self.evaluate(b)
        return a, b

    # Errors

    @contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]  # TensorFlow's parameters are not absl's
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Checks that the block raises an error of a class whose text matches a pattern, or that meets a predicate.

        Args:
            exception_type: the class, or a tuple of classes.
            expected_err_re_or_predicate: a regular expression, or a function of the error.

        Raises:
            AssertionError: the block raises no such error.
        """
        if callable(expected_err_re_or_predicate):
            matches = expected_err_re_or_predicate
        else:

            def matches(error: BaseException) -> bool:
                text = error.message if isinstance(error, OpError) else str(error)
                return re.search(expected_err_re_or_predicate, text) is not None

        try:
            yield
        except BaseException as error:
            if isinstance(error, exception_type) and matches(error):
                return
            raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        raise AssertionError(f"{_class_names(exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Checks that the block raises a `tf.errors.OpError`.

        Args:
            expected_err_re_or_predicate: a regular expression, or a function of the error.
        """
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type: Any = InvalidArgumentError) -> Any:
        """Checks that the block raises an error about shapes that do not broadcast.

        Args:
            exception_type: the class of the error, or a tuple of classes.
        """
        pattern = r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        return self.assertRaisesWithPredicateMatch(exception_type, pattern)

    # Texts, messages, devices

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Checks the start of a string.

        Args:
            actual: the string.
            expected_start: its start.
            msg: text for the error.
        """
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}" + (f" : {msg}" if msg else ""))

    def assertDictEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Checks that two dicts have the same keys and values; numbers, tensors and arrays by their elements, which
        may differ by rounding.

        Args:
            a, b: the dicts.
            msg: text for the error.
        """
        with contextlib.suppress(Exception):  # arrays have no single truth
            if a == b:
                return
        self.assertIsInstance(a, dict, f"the first argument is no dict, but {a!r}. {msg or ''}")
        self.assertIsInstance(b, dict, f"the second argument is no dict, but {b!r}. {msg or ''}")
        self.assertCountEqual(a.keys(), b.keys(), msg)
        for key in a:
            x, y = map(self._GetNdArray, self.evaluate_if_both_tensors(a[key], b[key]))
            compare = self.assertAllClose if np.issubdtype(x.dtype, np.floating) else self.assertAllEqual
            compare(x, y, msg=f"{key} {msg or ''}")

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Calls `assertCountEqual`; the name of Python 2.

        Args:
            first, second: iterables.
            msg: text for the error.
        """
        self.assertCountEqual(first, second, msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Checks that two names, in any form, are of the same device.

        Args:
            device1, device2: names of devices, or None.
            msg: text for the error.
        """
        first, second = (DeviceSpec.from_string(d).to_string() if d else "" for d in (device1, device2))
        self.assertEqual(first, second, f"Devices {first} and {second} are not equal. {msg or ''}")

    def assertProtoEquals(
        self,
        expected_message_maybe_ascii: Any,
        validate_message: Any,
        msg: str | None = None,
        relative_tolerance: float | None = None,
    ) -> None:
        """Checks that two messages are equal; the expected one may be its text.

        Args:
            expected_message_maybe_ascii: a message, or its text.
            validate_message: the other message.
            msg: text for the error.
            relative_tolerance: the tolerance of floating fields.

        Raises:
            AssertionError: the messages differ.
        """
        expected = as_message(expected_message_maybe_ascii, validate_message)
        problem = difference(expected, validate_message, relative_tolerance)
        if problem:
            self.fail(f"the messages differ: {problem} {msg or ''}")

    def assertProtoEqualsVersion(
        self, expected: str, actual: Any, producer: int | None = None, min_consumer: int = 0, msg: str | None = None
    ) -> None:
        """Calls `assertProtoEquals` for a `GraphDef`, of the version in `tf.version`.

        Args:
            expected: the text of a `GraphDef` without its versions.
            actual: a `GraphDef`.
            producer: the expected producer; by default the producer in `tf.version`.
            min_consumer: the expected least consumer.
            msg: text for the error.
        """
        versions = f"versions {{ producer: {version.GRAPH_DEF_VERSION if producer is None else producer}"
        versions += f" min_consumer: {min_consumer} }}" if min_consumer else " }"
        self.assertProtoEquals(f"{expected} {versions}", actual, msg=msg)

    # Threads and streams

    def checkedThread(
        self, target: Callable[..., Any], args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None
    ) -> CheckedThread:
        """Returns a thread whose errors fail the test: `start()` it and `join()` it.

        Args:
            target: the function to run.
            args, kwargs: its arguments.
        """
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """Captures the writes of the block to a stream with a file descriptor, also from C; see `CapturedWrites`.

        Args:
            stream: a file with a descriptor, such as `sys.stderr`.
        """
        descriptor = stream.fileno()
        stream.flush()
        original = os.dup(descriptor)
        with tempfile.TemporaryFile() as file:
            captured = CapturedWrites(file)
            os.dup2(file.fileno(), descriptor)
            try:
                yield captured
            finally:
                stream.flush()
                os.dup2(original, descriptor)
                os.close(original)
                captured.finish()

    # Sessions

    @contextmanager
    def session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Opens a `tf.compat.v1.Session` for the block, and its graph; in eager mode, a `NoSession`.

        Args:
            graph: the graph; by default the default one.
            config: a `tf.compat.v1.ConfigProto`, the session's options.
            use_gpu: False builds the graph for the CPU.
            force_gpu: whether to build the graph for the GPU.
        """
        if executing_eagerly():
            yield NoSession()
            return
        session = hooks.compat_module("compat.v1").Session("", graph=graph, config=config)
        with session.as_default(), session.graph.as_default(), self._devices(session, use_gpu, force_gpu):
            yield session

    @contextmanager
    def cached_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Opens a session like `session()`, but one for all blocks of a test; in eager mode, an `EagerSession`.

        Args:
            graph: the graph; by default the default one.
            config: a `tf.compat.v1.ConfigProto` for the session, or None.
            use_gpu: False builds the graph for the CPU.
            force_gpu: True builds the graph for the GPU.

        Raises:
            ValueError: the graph, config or `force_gpu` differ from the first call.
        """
        if executing_eagerly():
            yield EagerSession(self)
            return
        session = self._shared_session(graph, config, force_gpu)
        with session.as_default(), session.graph.as_default(), self._devices(session, use_gpu, force_gpu):
            yield session

    def test_session(
        self, graph: Graph | None = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Any:
        """Calls `session` if there is a graph, and else `cached_session`.

        Args:
            graph: the graph; None calls `cached_session`.
            config: a `tf.compat.v1.ConfigProto` for the session, or None.
            use_gpu: False builds the graph for the CPU.
            force_gpu: True builds the graph for the GPU.
        """
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")  # its name looks like a test's
        shared = self.cached_session if graph is None else self.session
        return shared(graph, config, use_gpu, force_gpu)

    def _devices(self, session: Any, use_gpu: bool, force_gpu: bool) -> Any:
        return session.graph.device("/device:GPU:0" if force_gpu else None if use_gpu else "/device:CPU:0")

    def _session_in_force(self) -> Any:
        return state.default_session() or self._shared_session(None, None, False)

    def _shared_session(self, graph: Graph | None, config: Any, force_gpu: bool) -> Any:
        if self._cached_session is None:
            session = hooks.compat_module("compat.v1").Session("", graph=graph or current_graph(), config=config)
            self._cached_session = session, config, force_gpu
            return session
        session, its_config, its_force = self._cached_session
        graphs = graph, graph and session.graph
        arguments = {"graph": graphs, "config": (config, its_config), "force_gpu value": (force_gpu, its_force)}
        for title, (new, first) in arguments.items():
            if new is not first:
                raise ValueError(
                    f"The {title} used to get the cached session is different than the one that was used to create "
                    "the session. Maybe create a new session with self.session()"
                )
        return session

    def _drop_session(self) -> None:
        if self._cached_session is not None:
            self._cached_session[0].close()
            self._cached_session = None


class EagerSession:
    """The result of `cached_session()` in eager mode. Its `run` returns the values of tensors.

    Args:
        case: the test.
    """

    def __init__(self, case: TestCase) -> None:
        self._case = case

    def run(self, fetches: Any, *args: Any, feed_dict: Any = None, **kwargs: Any) -> Any:
        """Returns the values of tensors, as `TestCase.evaluate` does.

        Raises:
            RuntimeError: there is something to feed, or an option.
        """
        for name, value in {"feed_dict is": feed_dict, "Optional args are": args or kwargs}.items():
            if value:
                raise RuntimeError(
                    f"{name} not supported when eager execution is enabled (in this case, sess.run(t) is shorthand for "
                    "t.numpy()"
                )
        return self._case.evaluate(fetches)


class NoSession:
    """The result of `session()` in eager mode; any access raises an error."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            "Trying to access properties or call methods on the result of self.session(), self.cached_session(), etc "
            "while eager execution is enabled. Use self.evaluate(), or build a graph around it."
        )


class CheckedThread(threading.Thread):
    """A thread that stores the error it ended with; `join` fails the test with it."""

    def __init__(self, test: Any, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(target=target, args=args, kwargs=kwargs)
        self._test = test
        self._error: BaseException | None = None
        self.joined = False

    def run(self) -> None:
        """Calls the function, and keeps its error."""
        try:
            super().run()
        except BaseException as error:
            self._error = error

    def join(self, timeout: float | None = None) -> None:
        """Waits for the thread, and fails the test with its error."""
        self.joined = True
        super().join(timeout)
        if self._error is not None:
            self._test.fail(f"Error in checkedThread: {self._error}")


class CapturedWrites:
    """The text that was written to a stream."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._text: str | None = None

    def finish(self) -> None:
        """Reads the text, at the end of the block."""
        self._file.seek(0)
        self._text = self._file.read().decode("utf-8", "replace")

    def contents(self) -> str:
        """Returns the text, after the block.

        Raises:
            ValueError: the block has not ended.
        """
        if self._text is None:
            raise ValueError("contents() is there when the block of captureWritesToStream is over.")
        return self._text


def _class_names(classes: Any) -> str:
    return " or ".join(c.__name__ for c in classes) if isinstance(classes, tuple) else classes.__name__
