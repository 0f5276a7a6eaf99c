"""A server of the data service in a process of its own, which ends with the test that started it.

data_service.py dispatcher PORT [FOLDER]
data_service.py worker DISPATCHER
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import tapeflow as tf


class Server:
    """A server that runs in another process.

    Args:
        *arguments: those of this program.
    """

    def __init__(self, *arguments):
        env = os.environ | {"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__, *map(str, arguments)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.address = json.loads(self._process.stdout.readline())

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@contextlib.contextmanager
def ended(*servers):
    """Kills servers at the end that still run."""
    try:
        yield servers
    finally:
        for server in servers:
            server.kill()


def main(role, *arguments):
    service = tf.data.experimental.service
    if role == "dispatcher":
        port, folder = int(arguments[0]), arguments[1] if len(arguments) > 1 else None
        config = service.DispatcherConfig(port=port, work_dir=folder, fault_tolerant_mode=folder is not None)
        server = service.DispatchServer(config)
    else:
        server = service.WorkerServer(service.WorkerConfig(arguments[0], heartbeat_interval_ms=200))
    print(json.dumps(server._address), flush=True)
    sys.stdin.read()  # until whoever started this closes it, or ends
    server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
