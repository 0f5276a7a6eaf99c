# Written by `scripts/record.py stubs`.
from ai_edge_litert.interpreter import Interpreter as Interpreter
from tapeflow.lite.options import OpsSet as OpsSet
from tapeflow.lite.options import Optimize as Optimize
from tapeflow.lite.options import RepresentativeDataset as RepresentativeDataset
from tapeflow.lite.converter import TFLiteConverter as TFLiteConverter
from tapeflow.lite.options import TargetSpec as TargetSpec
from tapeflow.lite import experimental as experimental
