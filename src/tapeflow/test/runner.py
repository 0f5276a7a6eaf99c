"""The main function of a program of tests."""

from __future__ import annotations

from collections.abc import Sequence

from absl.testing import absltest

from tapeflow.test.benchmark import run_requested


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the program, or, with `--benchmarks=PATTERN`, the benchmarks that match.

    Args:
        argv: the command line; by default `sys.argv`.

    Returns:
        None; tests end the process.

    Example:
        >>> tf.test.main()  # doctest: +SKIP
    """
    if not run_requested(argv):
        absltest.main(argv=argv)
