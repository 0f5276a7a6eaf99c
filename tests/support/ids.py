"""Test ids that are the same in every process."""

import re


def stable(value):
    """The value's repr without its address."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
