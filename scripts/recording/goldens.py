"""Records what TensorFlow gives for the golden cases in `tests/goldens`.

    python scripts/record.py goldens                               # all groups; needs TensorFlow
    python scripts/record.py goldens --group math --group nn       # only these
    python scripts/record.py goldens --group math --only "tf.abs"  # only cases whose title contains this
    python scripts/record.py goldens --check                       # write nothing, only say what would change

It prints what changed. A result that agrees with the one on record within the case's tolerance stays as it is, so that
another machine's last digits make no changes.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# TensorFlow's own kernels: oneDNN's differ by processor, and turn some errors into AbortedError.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests"))

import tensorflow as tf

from goldens import result
from goldens.case import Case, group_names, load, record_path


def run(case: Case) -> dict:
    """The record of one case."""
    with tempfile.TemporaryDirectory() as tmp:
        try:
            value = case.run(tf, tmp)
        except Exception as error:
            return {"error": type(error).__name__, "message": result.first_line(error, tmp)}
    try:
        return {"result": result.encode(value, tf)}
    except (TypeError, AssertionError) as error:
        return {"unwritable": str(error)}


def record_group(name: str, only: str, check: bool) -> tuple[int, int]:
    """Records a group; gives how many of its cases changed and how many went wrong."""
    cases = load(name).cases
    path = record_path(name)
    old = json.loads(path.read_text())["cases"] if path.exists() else {}
    new = {}
    changed = [f"gone     {title}" for title in old if title not in cases]
    wrong = []
    for title, case in cases.items():
        if only not in title:
            if title in old:
                new[title] = old[title]
            continue
        entry = {"hash": case.hash, **run(case)}
        if ("error" in entry) != case.raises or "unwritable" in entry:
            wrong.append(f"{title}\n             {json.dumps(entry)[:400]}")
            continue
        before = old.get(title)
        if before is None or not agrees(before, entry, case):
            changed.append(f"{'new' if before is None else 'changed'}  {title}")
            new[title] = entry
        else:
            new[title] = before
    for line in changed:
        print(f"{name}: {line}")
    for line in wrong:
        print(f"{name}: WRONG    {line}")
    if not check and not wrong and (changed or not path.exists()):
        path.write_text(as_text(new))
    return len(changed), len(wrong)


def agrees(before: dict, entry: dict, case: Case) -> bool:
    """Whether the result on record is still good."""
    if before["hash"] != entry["hash"]:
        return False
    if "error" in before or "error" in entry:
        return before == entry
    return result.difference(before["result"], entry["result"], case) is None


def as_text(entries: dict) -> str:
    """The record as JSON with a case in each line."""
    lines = [f"{json.dumps(title, ensure_ascii=False)}: {compact(entry)}" for title, entry in entries.items()]
    return "\n".join([f'{{"tensorflow": "{tf.__version__}", "cases": {{', ",\n".join(lines), "}}", ""])


def compact(value: dict) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group", action="append", choices=group_names(), help="record this group; may be given again")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose title contains this")
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.get_logger().setLevel("ERROR")
    totals = [record_group(name, args.only, args.check) for name in args.group or group_names()]
    changed, wrong = (sum(column) for column in zip(*totals, strict=True))
    print(f"{changed} changed, {wrong} wrong")
    return 1 if wrong or (args.check and changed) else 0
