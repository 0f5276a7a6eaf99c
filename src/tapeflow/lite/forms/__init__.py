"""The TFLite forms of ops, by families. Importing this package fills the table."""

from tapeflow.lite.forms import (
    control,
    convolutions,
    elementwise,
    gather_scatter,
    lists,
    products,
    reductions,
    resources,
    shapes,
)
from tapeflow.lite.table import FORMS
