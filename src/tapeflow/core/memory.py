"""What the C library's allocator does with the memory of freed tensors."""

from __future__ import annotations

import torch

_LARGEST = 8 << 20  # bytes; larger blocks would leave holes that add to the peak, and cost more than their pages


def keep_pages() -> None:
    """Has glibc keep the memory of freed tensors below 8 MiB for the next ones.

    It gives large blocks back to the system and takes fresh pages for the next ones, each of which costs a fault: a
    third of the time of a training step with activations of a megabyte. Once it has seen a block freed, it keeps blocks
    up to that size by itself (M_MMAP_THRESHOLD in mallopt(3): "dynamic mmap threshold"). So one is taken and freed,
    whose pages nobody touches. What a user sets by the environment (MALLOC_MMAP_THRESHOLD_) stays in force; with other
    C libraries nothing happens.
    """
    torch.empty(_LARGEST, dtype=torch.uint8)
