"""`tf.get_logger` and the messages of the library, as a program prints them."""

import pathlib
import subprocess
import sys
import textwrap

import pytest

import tapeflow as tf


def printed(source):
    """Returns what a program writes to stderr."""
    environment = {"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "PATH": ""}
    command = [sys.executable, "-c", textwrap.dedent(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_messages_name_their_level_and_logger():
    lines = printed("""
        import tapeflow as tf
        tf.get_logger().warning("one %d", 1)
        tf.get_logger().info("not printed")
        tf.compat.v1.logging.error("two")
        tf.get_logger().setLevel("INFO")
        tf.get_logger().info("three")
    """)
    assert lines == ["WARNING:tensorflow:one 1", "ERROR:tensorflow:two", "INFO:tensorflow:three"]


@pytest.mark.parametrize(
    "call",
    [
        "tf.GradientTape().__enter__().watch(tf.constant(1))",
        "tf.print('text', output_stream=tf.compat.v1.logging.error)",
        "f = tf.function(max); [f(n, n) for n in range(5)]",
    ],
)
def test_messages_of_the_library_are_formatted_too(call):
    (line,) = printed(f"import tapeflow as tf; {call}")
    assert line.startswith(("WARNING:tensorflow:", "ERROR:tensorflow:"))


def test_logging_that_a_program_configured_is_left_alone():
    lines = printed("""
        import logging
        logging.basicConfig(format="%(message)s")
        import tapeflow as tf
        tf.get_logger().warning("once")
        assert not tf.get_logger().handlers
    """)
    assert lines == ["once"]


def test_messages_go_to_the_stream_of_the_moment():
    lines = printed("""
        import io, sys
        import tapeflow as tf
        tf.get_logger().warning("before")
        real, sys.stderr = sys.stderr, io.StringIO()
        tf.get_logger().warning("caught")
        caught, sys.stderr = sys.stderr.getvalue(), real
        assert caught == "WARNING:tensorflow:caught\\n"
    """)
    assert lines == ["WARNING:tensorflow:before"]


def test_messages_of_an_interactive_session_go_to_stdout():
    """From the level INFO on, as in notebooks."""
    environment = {"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "PATH": ""}
    program = "import tapeflow as tf; tf.get_logger().info('shown'); tf.get_logger().debug('hidden')"
    command = [sys.executable, "-i", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, input="")
    assert done.stdout.splitlines() == ["INFO:tensorflow:shown"]
