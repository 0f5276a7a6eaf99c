"""`Dataset.ignore_errors`."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.core.errors import OpError
from tapeflow.core.logger import get_logger
from tapeflow.data.elements import Element
from tapeflow.data.node import Unary, dataset_op
from tapeflow.data.threads import Failure, raises_failures, with_failures


@dataset_op("IgnoreErrorsDataset")
class IgnoreErrors(Unary):
    """The elements without those whose computation fails."""

    log_warning: bool

    passes_elements = passes_options = True

    @raises_failures
    def generate(self, *inputs: Iterator[Element]) -> Generator[Any]:
        for element in with_failures(inputs[0]):
            if type(element) is not Failure or not isinstance(element.error, OpError):
                yield element
            elif self.log_warning:
                get_logger().warning("Error raised with error message %s", element.error)
