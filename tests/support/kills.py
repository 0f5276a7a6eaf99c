"""Kills of a process that saves, at the steps in which it changes files."""

import itertools
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator

# The functions in C that change which files there are and what is in them, as far as other processes see it.
STEPS = frozenset({"open", "write", "sendfile", "mkdir", "rmdir", "rename", "replace", "link", "unlink", "remove"})
_VALUES = (str, bytes, list, set)  # whose methods have such names too
_KILLED, _DONE = 99, 0


def kills(save: Callable[[], None], folder: pathlib.Path, steps: Collection[str] = STEPS) -> Iterator[bool]:
    """Gives a folder each state in which a kill of a process that saves can leave it.

    One child process runs `save`, and copies the folder before each step: a kill there would leave the same, as nothing
    tidies up in a process that is killed. A child for each step would take long: each copies the tables of all memory.

    Args:
        save: changes files in the folder.
        folder: its content is replaced.
        steps: the names of the functions before whose calls the process is killed.

    Yields:
        For each state whether `save` came to its end, which is the last one.
    """
    with tempfile.TemporaryDirectory() as name:
        copies = pathlib.Path(name)

        def copy_state() -> None:
            shutil.copytree(folder, copies / str(len(os.listdir(copies))))

        assert _in_child(save, steps, copy_state) == _DONE
        copy_state()
        states = sorted(copies.iterdir(), key=lambda path: int(path.name))
        for state in states:
            shutil.rmtree(folder)
            shutil.copytree(state, folder)
            yield state is states[-1]


def survives(save: Callable[[], None], steps: Collection[str], count: int) -> bool:
    """Runs `save` in a child process, which ends after so many steps. Returns whether `save` came to its end before."""
    left = itertools.count(count, -1)
    return _in_child(save, steps, lambda: None if next(left) else os._exit(_KILLED)) == _DONE


def _in_child(save: Callable[[], None], steps: Collection[str], before: Callable[[], None]) -> int:
    """Runs `save` in a child process, and a function before each of its steps. Returns how the process ended."""
    child = os.fork()
    if not child:
        status = 1
        try:

            def on_event(_frame, event, function):
                is_step = event == "c_call" and function.__name__ in steps
                if is_step and not isinstance(function.__self__, _VALUES):
                    sys.setprofile(None)
                    before()
                    sys.setprofile(on_event)

            sys.setprofile(on_event)
            save()
            sys.setprofile(None)
            status = _DONE
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (_KILLED, _DONE), f"the child process failed: {status}"
    return status
