"""Prints the raw ops that TapeFlow lacks, by the reason.

python scripts/raw_ops.py             # how many, for each reason
python scripts/raw_ops.py --names     # which
"""

import argparse
import collections

import tapeflow as tf
from tapeflow.core.ops import op_def


def reason(name: str) -> str:
    """Why an op is not there, by its definition."""
    definition = op_def.get(name)
    arguments = [*definition.inputs, *definition.outputs]
    if any(argument.is_ref for argument in arguments):
        return "takes or gives references, which TensorFlow 1 alone has"
    if "func" in {attr.type.removeprefix("list(").removesuffix(")") for attr in definition.attrs.values()}:
        return "calls functions by their names: tf.function, tf.cond, tf.data and others stand for it"
    kinds = {argument.type.name for argument in arguments if argument.type is not None}
    if kinds & {"resource", "variant"}:
        return "takes or gives handles of resources, which are Python's objects here"
    if not arguments:
        return "has neither inputs nor outputs"
    return "has no kernel yet"


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--names", action="store_true", help="list the names")
names = parser.parse_args().names
there = set(dir(tf.raw_ops))
lacking = collections.defaultdict(list)
for op in op_def.names():
    if op not in there:
        lacking[reason(op)].append(op)
print(f"{len(there)} of {len(set(op_def.names()))} ops of which there are definitions.")
for why, ops in sorted(lacking.items(), key=lambda item: -len(item[1])):
    print(f"{len(ops):4}  {why}" + (f":\n      {', '.join(sorted(ops))}" if names else ""))
