"""Kills of a process that saves: one at each step in which it changes files, for every step."""

import itertools
import os
import sys
from collections.abc import Callable, Collection, Iterator

# The functions in C that change which files there are and what is in them, as far as other processes see it.
STEPS = frozenset({"open", "write", "sendfile", "mkdir", "rmdir", "rename", "replace", "link", "unlink", "remove"})
_VALUES = (str, bytes, list, set)  # whose methods have such names too
_KILLED, _DONE = 99, 0


def kills(save: Callable[[], None], steps: Collection[str] = STEPS) -> Iterator[bool]:
    """Runs `save` in a child process again and again, which ends before its first step, before its second, and so on.

    Nothing tidies up in a process that is killed, as in reality.

    Args:
        save: changes files.
        steps: the names of the functions before whose calls the process is killed.

    Yields:
        After each run whether `save` came to its end, which is the last one.
    """
    for count in itertools.count():
        done = survives(save, steps, count)
        yield done
        if done:
            return


def survives(save: Callable[[], None], steps: Collection[str], count: int) -> bool:
    """Runs `save` in a child process, which ends after so many steps. Returns whether `save` came to its end before."""
    child = os.fork()
    if not child:
        status = 1
        try:
            left = itertools.count(count, -1)

            def before(_frame, event, function):
                is_step = event == "c_call" and function.__name__ in steps
                if is_step and not isinstance(function.__self__, _VALUES) and not next(left):
                    os._exit(_KILLED)

            sys.setprofile(before)
            save()
            sys.setprofile(None)
            status = _DONE
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (_KILLED, _DONE), f"the child process failed: {status}"
    return status == _DONE
