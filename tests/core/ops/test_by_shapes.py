"""The cache of what follows from shapes."""

import pytest
import torch

from tapeflow.core.ops.by_shapes import by_shapes

calls = []


@by_shapes(8)
def doubled(shape, *rest):
    """Its arguments."""
    calls.append(shape)
    return tuple(2 * size for size in shape), *rest


def test_a_result_is_kept():
    calls.clear()
    assert [doubled((3, 4), "a") for _ in range(3)] == [((6, 8), "a")] * 3
    assert calls == [(3, 4)] and doubled.__doc__ == "Its arguments."


def test_sizes_that_stand_for_any_number():
    class Module(torch.nn.Module):
        def forward(self, x):
            (shape,) = doubled(tuple(x.shape))
            return x.new_zeros(shape)

    batch = {0: torch.export.Dim("batch", min=2)}
    program = torch.export.export(Module(), (torch.ones(3, 4),), dynamic_shapes=(batch,)).module()
    assert [tuple(program(torch.ones(n, 4)).shape) for n in (3, 5)] == [(6, 8), (10, 8)]


def test_other_errors_are_raised():
    with pytest.raises(TypeError, match="unhashable"):
        doubled([3, 4])
