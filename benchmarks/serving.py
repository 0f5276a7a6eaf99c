"""Asks a served model by many clients at once, and prints requests a second and how long they took.

    benchmarks/serving.py [--clients 32] [--seconds 5] [--rounds 1] [--tensorflow FOLDER]

Two models are served over HTTP: a small one (two layers) and a large one (eight layers of 1024). With `--tensorflow`,
a folder of packages that has TensorFlow, the same server then calls TensorFlow, which loads the same SavedModels.
Clients run in this process, each server in one of its own; servers are asked in turn. The processor's time of a server
for a request says more than times by the clock where other work runs on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import aiohttp
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = {"small": (2, 32), "large": (8, 1024)}


def function_of(tf: Any, weights: Any) -> Any:
    """Returns the function of layers with weights."""

    @tf.function(input_signature=[tf.TensorSpec([None, weights[0].shape[0]], name="x")])
    def call(x: Any) -> Any:
        for w in weights:
            x = tf.nn.relu(tf.matmul(x, w))
        return {"y": x}

    return call


def save(folder: str) -> None:
    """Writes the models."""
    import tapeflow as tf

    for name, (layers, width) in MODELS.items():
        rng = np.random.default_rng(0)
        module = tf.Module()
        weights = [rng.normal(size=(width, width), scale=width**-0.5).astype("float32") for _ in range(layers)]
        module.weights = [tf.Variable(w) for w in weights]

        module.f = function_of(tf, module.weights)
        tf.saved_model.save(module, os.path.join(folder, name), signatures=module.f)


def serve(folder: str, port: int, tensorflow: str | None) -> None:
    """Serves the models; by TensorFlow's functions, if its folder of packages is passed."""
    from tapeflow.serving import Servable
    from tapeflow.serving.server import Endpoints, Server, run

    models = [Servable(name, os.path.join(folder, name)) for name in MODELS]
    if tensorflow is not None:
        sys.path.append(tensorflow)
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        for model in models:
            signature = model.version().signature("serving_default")
            loaded = tf.saved_model.load(os.path.join(folder, model.name))
            signature.run = functools.partial(_run, tf, loaded, loaded.signatures["serving_default"])
    run(Server(models), Endpoints("127.0.0.1", port))


def _run(tf: Any, loaded: Any, function: Any, arrays: Any) -> Any:
    return {n: t.numpy() for n, t in function(**{n: tf.constant(a) for n, a in arrays.items()}).items()}


def start(folder: str, port: int, tensorflow: str | None) -> subprocess.Popen[bytes]:
    """Starts the server."""
    command = [sys.executable, __file__, "--serve", folder, "--port", str(port)]
    if tensorflow is not None:
        command += ["--tensorflow", tensorflow]
    path = os.path.join(ROOT, "src")
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}, stdout=subprocess.DEVNULL
    )


async def ready(port: int, server: subprocess.Popen[bytes]) -> None:
    """Waits until the server answers: on a busy machine, loading TensorFlow takes minutes."""
    async with aiohttp.ClientSession() as session:
        for _ in range(6000):
            if server.poll() is not None:
                raise ChildProcessError(f"The server ended with {server.returncode}.")
            try:
                async with session.get(f"http://127.0.0.1:{port}/v1/models/small") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.1)
    raise TimeoutError("The server does not answer.")


async def load(port: int, name: str, clients: int, seconds: float) -> list[float]:
    """Returns how many milliseconds each request took."""
    width = MODELS[name][1]
    body = json.dumps({"instances": np.random.default_rng(1).normal(size=(1, width)).round(4).tolist()})
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def client(session: aiohttp.ClientSession) -> None:
        while time.perf_counter() < end:
            begin = time.perf_counter()
            async with session.post(f"http://127.0.0.1:{port}/v1/models/{name}:predict", data=body) as response:
                await response.read()
                assert response.status == 200
            times.append((time.perf_counter() - begin) * 1e3)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=clients)) as session:
        await asyncio.gather(*[client(session) for _ in range(clients)])
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--port", type=int, default=8517)
    parser.add_argument("--tensorflow", help="a folder of packages with TensorFlow, for this interpreter's version")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.port, options.tensorflow)
        return
    with tempfile.TemporaryDirectory() as folder:
        save(folder)
        names = {"TapeFlow": None, **({"TensorFlow": options.tensorflow} if options.tensorflow else {})}
        ports = {name: options.port + i for i, name in enumerate(names)}
        servers = {name: start(folder, ports[name], by) for name, by in names.items()}
        results: dict[tuple[str, str], Result] = {(of, model): Result() for of in servers for model in MODELS}
        try:
            for of, server in servers.items():
                asyncio.run(ready(ports[of], server))
            for _ in range(options.rounds):
                for (of, model), result in results.items():
                    asyncio.run(load(ports[of], model, options.clients, 1.0))
                    before = processor_time(servers[of].pid)
                    times = asyncio.run(load(ports[of], model, options.clients, options.seconds))
                    result.processor += processor_time(servers[of].pid) - before
                    result.rates.append(len(times) / options.seconds)
                    result.times += times
        finally:
            for server in servers.values():
                server.terminate()
                server.wait()
        for (of, model), result in results.items():
            p50, p99 = np.percentile(result.times, [50, 99])
            print(
                f"{of}, {model}: {np.median(result.rates):.0f} requests/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
                f"{result.processor / len(result.times) * 1e3:.2f} ms of the processor's time a request"
            )


class Result:
    """How a server did with a model."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.rates: list[float] = []
        self.processor = 0.0


def processor_time(pid: int) -> float:
    """Returns the seconds of the processor's time that a process took; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
