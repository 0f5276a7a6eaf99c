"""The place of a part in the variable that it is a part of."""

from __future__ import annotations

from typing import Any, NamedTuple


class SaveSliceInfo(NamedTuple):
    """The place of a part in its variable, as checkpoints record it.

    Attributes:
        full_name: of the whole variable.
        full_shape: of it.
        var_offset: where the part begins in it.
        var_shape: of the part.
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
