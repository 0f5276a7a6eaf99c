"""The versions that stand in several files agree, as `scripts/release.py` asks before it builds."""

import pytest

import release


def test_versions_agree():
    release.check_versions(None)


def test_a_tag_of_another_version_is_refused():
    with pytest.raises(SystemExit, match=r"the tag has 9\.9\.9"):
        release.check_versions("v9.9.9")
