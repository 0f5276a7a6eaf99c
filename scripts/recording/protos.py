"""Compiles src/tapeflow/core/protos.proto to protos.binpb, which TapeFlow loads; `pip install grpcio-tools` first.

python scripts/record.py protos
"""

import pathlib
import subprocess
import sys

SRC = pathlib.Path(__file__).resolve().parents[2] / "src"
PROTOS = "tapeflow/core/protos"


def main():
    command = [sys.executable, "-m", "grpc_tools.protoc", "--proto_path=.", f"--descriptor_set_out={PROTOS}.binpb"]
    subprocess.run([*command, f"{PROTOS}.proto"], cwd=SRC, check=True)
