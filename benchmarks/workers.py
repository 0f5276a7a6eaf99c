"""The frameworks as the runner sees them: interpreters that can import them, and workers to ask."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FRAMEWORKS = ("tapeflow", "tensorflow", "torch", "jax")
FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent


def interpreters(chosen, frameworks):
    """{framework: interpreter}: from `chosen`, else from TAPEFLOW_BENCH_PYTHON_<FRAMEWORK>, else this one."""
    return {
        name: chosen.get(name) or os.environ.get(f"TAPEFLOW_BENCH_PYTHON_{name.upper()}") or sys.executable
        for name in frameworks
    }


def environment(threads=None, gpu=False):
    """The CPU alone, or what there is; quiet, and this many threads wherever a framework takes them from."""
    settings = {"TF_CPP_MIN_LOG_LEVEL": "3"} | ({} if gpu else {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"})
    if threads:
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "NPROC"):
            settings[name] = str(threads)
    return os.environ | settings


class WorkerError(Exception):
    """The worker's own words on why it could not do what it was asked."""


class Worker:
    """A process that has imported one framework and set up one program. Raises WorkerError if it cannot."""

    def __init__(self, framework, interpreter, program, threads, gpu=False):
        self.framework = framework
        self.stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 (close() closes it)
        command = [interpreter, str(FOLDER / "worker.py"), framework, str(program)]
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, text=True, bufsize=1,
                env=environment(threads, gpu),
            )  # fmt: skip
        except OSError as error:
            raise WorkerError(f"{interpreter}: {error.strerror}") from error
        try:
            hello = self.receive()
        except WorkerError:
            self.close()
            raise
        self.version = hello["version"]
        self.benchmarks = [tuple(key) for key in hello["benchmarks"]]

    def ask(self, request, key):
        with contextlib.suppress(BrokenPipeError):  # if it died, receive() says what of
            self.process.stdin.write(json.dumps({request: key}) + "\n")
        return self.receive()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.stderr.seek(0)
            last = (self.stderr.read().strip().splitlines() or ["no message"])[-1]
            raise WorkerError(f"the worker ended with status {status}: {last}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
