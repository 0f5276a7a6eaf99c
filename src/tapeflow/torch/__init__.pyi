# Written by `scripts/record.py stubs`.
from tapeflow.torch.module import Converted as Converted
from tapeflow.torch.layer import Layer as Layer
from tapeflow.torch.convert import convert as convert
from tapeflow.torch.memory import from_torch as from_torch
from tapeflow.torch.module import module as module
from tapeflow.torch.memory import to_torch as to_torch
