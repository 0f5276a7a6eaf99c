"""Recorded fixtures hold for any machine."""

import pathlib
import re

import pytest

HERE = pathlib.Path(__file__).parent
RECORDED = sorted(
    p for p in HERE.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc") and "__pycache__" not in p.parts
)
# Folders that belong to one machine or user. `/tmp/...` in a recorded call is an argument that no file is read from.
OF_ONE_MACHINE = re.compile(rb"/(?:tmp/tmp\w|home/|root/|Users/|var/folders/|work/|private/)")


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: str(p.relative_to(HERE)))
def test_holds_no_absolute_path(path):
    match = OF_ONE_MACHINE.search(path.read_bytes())
    assert match is None, match
