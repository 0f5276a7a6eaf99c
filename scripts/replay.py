#!/usr/bin/env python3
"""Writes the source and the machine code of a fixed set of graphs, and compares two checkouts.

    python scripts/replay.py FOLDER [--before CHECKOUT] [--cases TEXT ...]

Each benchmark in the programs below runs once. FOLDER gets a file for each: the printed source of its functions, and
the LLVM IR that was compiled for it. With `--before`, another checkout (`git worktree add ../before HEAD~1`) writes its
own files beside them on the same machine, and the differences are printed: a refactoring has none. Files of different
machines differ, because vector lengths and some kernels are chosen for the processor.
"""

import argparse
import contextlib
import difflib
import gc
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ("functions", "small_functions", "vectorized", "models")
UNLIKE = re.compile("eager step|tracing and first call|words generated")  # no functions, or a function of others
MEMORY = re.compile(r"0x[0-9a-f]{6,}")


def write(folder, texts):
    """Writes the files of the cases whose names contain one of the texts."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import tapeflow as tf
    from tapeflow.core.machine_code import target
    from tapeflow.graph.codegen.compile import Compiled

    kernels, load = [], type(target()).load

    def noted(self, name, key, text):
        kernels.append(text().replace("{name}", name))
        return load(self, name, key, text)

    type(target()).load = noted
    folder.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        for name, call in importlib.import_module(f"programs.{program}").setup(tf).items():
            for variant, run in (call if isinstance(call, dict) else {"": call}).items():
                case = f"{program} {name} {variant}".rstrip()
                if UNLIKE.search(case) or (texts and not any(text in case for text in texts)):
                    continue
                before = {id(function) for function in _functions(Compiled)}
                kernels.clear()
                tf.random.set_seed(0)
                run()
                sources = [f.source for f in _functions(Compiled) if id(f) not in before and f._function is not None]
                text = "\n".join([*sorted(sources), *sorted(kernels)])
                file = folder / f"{re.sub('[^a-zA-Z0-9]+', '_', case)}.txt"
                file.write_text(MEMORY.sub("ADDRESS", text), encoding="utf-8")


def _functions(kind):
    return [value for value in gc.get_objects() if isinstance(value, kind)]


def compare(before, after):
    """Prints the differences of the files of two folders. Returns the number of files that differ."""
    names = sorted({file.name for folder in (before, after) for file in folder.iterdir()})
    count = 0
    for name in names:
        sides = [(folder / name) for folder in (before, after)]
        lines = [file.read_text(encoding="utf-8").splitlines() if file.exists() else [] for file in sides]
        if lines[0] != lines[1]:
            count += 1
            print(*difflib.unified_diff(*lines, f"before/{name}", f"after/{name}", n=1, lineterm=""), sep="\n")
    print(f"{count} of {len(names)} files differ")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, metavar="CHECKOUT")
    parser.add_argument("--cases", nargs="*", default=[], metavar="TEXT")
    args = parser.parse_args()
    if args.before is None:
        write(args.folder, args.cases)
        return
    with contextlib.ExitStack() as stack:
        for side, root in (("before", args.before.resolve()), ("after", ROOT)):
            cache = stack.enter_context(tempfile.TemporaryDirectory())
            env = {**os.environ, "PYTHONPATH": str(root / "src"), "TAPEFLOW_CACHE_DIR": cache}
            command = [sys.executable, __file__, str(args.folder / side), "--cases", *args.cases]
            subprocess.run(command, env=env, check=True)
    sys.exit(compare(args.folder / "before", args.folder / "after") > 0)


if __name__ == "__main__":
    main()
