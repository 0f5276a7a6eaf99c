"""Flags as TensorFlow's programs take them, errors in one line, and messages in files, for all commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from tapeflow.core import errors
from tapeflow.io import gfile

ERRORS = (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError, AssertionError, ImportError,
          errors.OpError)  # fmt: skip


def add_text(parser: argparse.ArgumentParser, name: str, text: str, default: Any = "", **options: Any) -> None:
    """Adds a flag with a value: `--name value`, `--name=value`, or with one dash."""
    parser.add_argument(f"--{name}", f"-{name}", dest=name, default=default, help=text, **options)


def add_switch(parser: argparse.ArgumentParser, name: str, text: str, default: bool = False) -> None:
    """Adds a flag that is true or false: `--name`, `--name=false` or `--noname`."""

    def truth(value: str) -> bool:
        if value.lower() not in ("true", "false", "t", "f", "1", "0", "yes", "no"):
            raise argparse.ArgumentTypeError(f"{value!r} is neither true nor false")
        return value.lower() in ("true", "t", "1", "yes")

    parser.add_argument(
        f"--{name}", f"-{name}", dest=name, nargs="?", const=True, type=truth, default=default, help=text
    )
    parser.add_argument(f"--no{name}", dest=name, action="store_false", help=argparse.SUPPRESS)


def run_command(program: str, command: Callable[[], Any]) -> None:
    """Runs a command and ends the process: with 0, or with 1 and one line about the error.

    Args:
        program: the name of the program.
        command: called without arguments.
    """
    try:
        sys.exit(command() or 0)
    except ERRORS as error:
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"{program}: {type(error).__name__}: {message}", file=sys.stderr)
        sys.exit(1)


def read_message(path: str, message: Message, binary: bool, what: str) -> Any:
    """Reads a message of protocol buffers, in binary form or as text, into `message`, and returns it.

    Raises:
        OSError: there is no such file.
        ValueError: the file has another form.
    """
    if not gfile.exists(path):
        raise OSError(f"{what} '{path}' does not exist!")
    try:
        if binary:
            with gfile.GFile(path, "rb") as file:
                message.ParseFromString(file.read())
        else:
            with gfile.GFile(path, "r") as file:
                text_format.Parse(file.read(), message)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        form = "binary" if binary else "text; pass --input_binary for a .pb file"
        raise ValueError(f"{what} '{path}' is not a message in {form}: {error}") from None
    return message


def split_names(text: str) -> list[str]:
    """Returns the names in a text, which commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]


def check_names(names: Sequence[str], flag: str) -> None:
    """Raises ValueError without names."""
    if not names:
        raise ValueError(f"{flag} must contain at least one non-empty item.")
