#!/usr/bin/env python3
"""Has many clients ask a served model while its versions and labels change, and prints what they are answered.

    python scripts/stress/changing_versions.py [--clients 500] [--seconds 60]

Half of the clients speak HTTP and half gRPC. They ask for the latest version, and for the version with the label
"stable". Meanwhile, versions are added, labels move to them, by the config file and by requests of gRPC in turn, old
versions are deleted, and damaged versions come and go. The exit status is 1 if an answer is an error, or is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import Any

HOME = pathlib.Path(__file__).resolve().parents[2]
COUNT = 12  # SavedModels, each of which is several versions
METHOD = "/tensorflow.serving.PredictionService/Predict"
RELOAD = "/tensorflow.serving.ModelService/HandleReloadConfigRequest"


def save_models(folder: pathlib.Path) -> None:
    """Writes SavedModels that multiply rows by the number of their folder."""
    import tapeflow as tf

    class Model(tf.Module):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = tf.Variable(factor)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
        def f(self, x: Any) -> Any:
            return {"y": x * self.factor}

    for number in range(COUNT):
        module = Model(float(number))
        tf.saved_model.save(module, folder / str(number), signatures=module.f)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Stress:
    """A server, its clients, and what changes its models.

    Args:
        folder: an empty folder.
        seconds: how long clients ask.
    """

    def __init__(self, folder: pathlib.Path, seconds: float) -> None:
        self.saved, self.served, self.config = folder / "saved", folder / "served", folder / "models.config"
        self.port, self.grpc_port = free_port(), free_port()
        self.answers: Counter[str] = Counter()
        self.latencies: list[float] = []
        self.changes = 0
        self.seconds, self.end = seconds, 0.0
        self.newest = 0

    def add_version(self) -> None:
        """Adds a version: complete, or file by file as a copy by hand does."""
        self.newest += 1
        source = self.saved / str(self.newest % COUNT)
        if self.newest % 2:
            shutil.copytree(source, self.served / "copy")
            os.rename(self.served / "copy", self.served / str(self.newest))
        else:
            shutil.copytree(source, self.served / str(self.newest))

    def config_text(self, stable: int) -> str:
        return (
            f"model_config_list {{ config {{ name: 'm' base_path: '{self.served}' model_platform: 'tensorflow' "
            f"model_version_policy {{ all {{}} }} version_labels {{ key: 'stable' value: {stable} }} }} }}"
        )

    def write_config(self, stable: int) -> None:
        beside = self.config.with_suffix(".new")
        beside.write_text(self.config_text(stable))
        os.replace(beside, self.config)

    def start(self) -> subprocess.Popen[bytes]:
        """Starts the server."""
        poll = "0.1"
        command = [
            sys.executable, "-m", "tapeflow", "serve", f"--model_config_file={self.config}", f"--port={self.port}",
            f"--grpc-port={self.grpc_port}", f"--model_config_file_poll_wait_seconds={poll}",
            f"--file_system_poll_wait_seconds={poll}", "--load_retry_interval_micros=0", "--max_num_load_retries=100",
        ]  # fmt: skip
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(HOME / "src")})

    def note(self, version: int, value: float, begin: float) -> None:
        """Counts an answer: the value has to be of the version."""
        right = value == 3.0 * (version % COUNT)
        self.answers["right" if right else f"wrong: {value} of version {version}"] += 1
        self.latencies.append(time.perf_counter() - begin)

    async def ask_http(self, session: Any, choice: str) -> None:
        """Asks until the end."""
        url = f"http://127.0.0.1:{self.port}/v1/models/m{choice}:predict"
        while time.perf_counter() < self.end:
            begin = time.perf_counter()
            try:
                async with session.post(url, json={"instances": [[3.0, 1.0]]}) as response:
                    body = await response.json()
                    if response.status != 200:
                        self.answers[f"HTTP {response.status}: {body}"] += 1
                        continue
            except Exception as error:  # it is counted
                self.answers[f"HTTP: {error!r}"] += 1
                continue
            x, y = body["predictions"][0]
            self.answers["right" if x == 3.0 * y and y == int(y) < COUNT else f"wrong: {body}"] += 1
            self.latencies.append(time.perf_counter() - begin)

    async def ask_grpc(self, channel: Any, labelled: bool) -> None:
        """Asks until the end. Answers name their version, so that their values can be checked."""
        from tensorboard.compat.proto.tensor_pb2 import TensorProto

        import tapeflow as tf
        from tapeflow.core.protos import message_class

        response = message_class("PredictResponse")
        method = channel.unary_unary(
            METHOD, request_serializer=lambda m: m.SerializeToString(), response_deserializer=response.FromString
        )
        spec = message_class("ModelSpec")(name="m", **({"version_label": "stable"} if labelled else {}))
        x = tf.make_tensor_proto([[3.0, 1.0]]).SerializeToString()
        request = message_class("PredictRequest")(model_spec=spec, inputs={"x": x})
        while time.perf_counter() < self.end:
            begin = time.perf_counter()
            try:
                answer = await method(request, timeout=60)
            except Exception as error:  # it is counted
                self.answers[f"gRPC: {error!r}"] += 1
                continue
            proto = TensorProto.FromString(answer.outputs["y"])
            self.note(answer.model_spec.version.value, float(tf.make_ndarray(proto)[0, 0]), begin)

    async def states(self, session: Any) -> dict[str, str]:
        async with session.get(f"http://127.0.0.1:{self.port}/v1/models/m") as response:
            body = await response.json()
        return {v["version"]: v["state"] for v in body["model_version_status"]}

    async def wait_for_version(self, session: Any, number: int) -> None:
        while (await self.states(session)).get(str(number)) != "AVAILABLE":
            await asyncio.sleep(0.05)

    async def change(self, session: Any, channel: Any) -> None:
        """Adds versions, moves the label, and deletes versions, until the end."""
        from tapeflow.core.protos import message_class

        reload = channel.unary_unary(
            RELOAD, request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=message_class("ReloadConfigResponse").FromString,
        )  # fmt: skip
        label = f"http://127.0.0.1:{self.port}/v1/models/m/labels/stable"
        while time.perf_counter() < self.end:
            await asyncio.to_thread(self.add_version)
            await self.wait_for_version(session, self.newest)
            self.write_config(self.newest)
            if self.changes % 2:  # the file says the same, so that its next reading changes nothing
                from google.protobuf import text_format

                config = text_format.Parse(self.config_text(self.newest), message_class("ModelServerConfig")())
                await reload(message_class("ReloadConfigRequest")(config=config), timeout=60)
            while True:
                async with session.get(label) as response:
                    body = await response.json()
                if body["model_version_status"][0]["version"] == str(self.newest):
                    break
                await asyncio.sleep(0.05)
            damaged = self.served / str(self.newest + 1)
            damaged.mkdir()
            (damaged / "saved_model.pb").write_bytes(b"damaged")
            while (await self.states(session)).get(damaged.name) != "END":
                await asyncio.sleep(0.05)
            shutil.rmtree(damaged)
            for folder in list(self.served.iterdir()):
                if int(folder.name) < self.newest:
                    shutil.rmtree(folder)
            self.changes += 1

    async def run(self, clients: int) -> None:
        """Runs the clients until the end."""
        import aiohttp
        import grpc

        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            while True:
                try:
                    await self.states(session)
                    break
                except aiohttp.ClientConnectionError:
                    await asyncio.sleep(0.1)
            async with grpc.aio.insecure_channel(f"127.0.0.1:{self.grpc_port}") as channel:
                self.end = time.perf_counter() + self.seconds
                tasks = [
                    self.ask_grpc(channel, i % 4 == 1) if i % 2 else
                    self.ask_http(session, "/labels/stable" if i % 4 else "")
                    for i in range(clients)
                ]  # fmt: skip
                await asyncio.gather(self.change(session, channel), *tasks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    sys.path.insert(0, str(HOME / "src"))
    with tempfile.TemporaryDirectory() as name:
        stress = Stress(pathlib.Path(name), options.seconds)
        save_models(stress.saved)
        stress.add_version()
        stress.write_config(stress.newest)
        server = stress.start()
        try:
            asyncio.run(stress.run(options.clients))
        finally:
            server.terminate()
            server.wait()
    times = sorted(stress.latencies)
    for answer, count in stress.answers.most_common(20):
        print(f"{count:8} {answer[:300]}")
    middle, late = times[len(times) // 2] * 1000, times[int(len(times) * 0.99)] * 1000
    print(f"{stress.changes} changes of versions; {len(times) / stress.seconds:.0f} answers a second")
    print(f"half of the answers within {middle:.0f} ms, 99 of 100 within {late:.0f} ms, all within {times[-1]:.2f} s")
    sys.exit(set(stress.answers) != {"right"})


if __name__ == "__main__":
    main()
