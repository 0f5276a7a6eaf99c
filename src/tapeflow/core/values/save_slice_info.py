"""The place of a part in the variable that it is a part of."""

from __future__ import annotations

from typing import Any, NamedTuple


class SaveSliceInfo(NamedTuple):
    """The place of a part in its variable, as checkpoints record it.

    Attributes:
        full_name: the name of the whole variable.
        full_shape: the shape of the whole variable.
        var_offset: the index of the part's first element in the whole variable, one int per dimension.
        var_shape: the shape of the part.
    """

    full_name: Any = None
    full_shape: Any = None
    var_offset: Any = None
    var_shape: Any = None

    @property
    def spec(self) -> str:
        """The place as checkpoints write it: the whole shape, and `start,length` for each dimension."""
        whole = " ".join(map(str, self.full_shape))
        places = zip(self.var_offset, self.var_shape, strict=True)
        return f"{whole} " + ":".join(f"{start},{length}" for start, length in places)
