#!/usr/bin/env python3
"""Disturbs the training of two processes at random moments, and checks that nothing hangs, is lost or is left behind.

    python scripts/stress/faults.py [--faults 100] [--seed 0] [--timeout 3]

Two workers of a `MultiWorkerMirroredStrategy` train, and save a checkpoint every third step. A fault kills one of them
or both, stops one for good (SIGSTOP) or for a moment, makes its disk slow, or cuts the network between them; some come
while the workers still meet. The other worker, after a cut both, has to end with an error within the timeout of the
collectives (or both have to go on). Then both are started again, and go on from the last checkpoint. Every loss has to
be that of one process without faults.

To have a network that can be cut, the second worker gets a network namespace of its own: that takes Linux and root.
Elsewhere there are no cuts, and all traffic is on loopback.
"""

import argparse
import collections
import contextlib
import ctypes
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

HOME = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HOME / "src")]
os.environ["OMP_NUM_THREADS"] = "1"  # threads do not live on in a forked process
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")  # the other worker says what happened
GAVE_UP, SAVE_EVERY = 42, 3
KINDS = ("kill", "kill both", "stop", "pause", "slow disk")
CUT = "cut"


def batch(step, replica, tf):
    x = tf.cast(tf.range(8) + 8 * replica, tf.float32) / 16.0 + tf.math.sin(tf.cast(step, tf.float32))
    return tf.stack([x, x * x, tf.ones_like(x)], 1), tf.math.cos(x)[:, None]


def alone(steps, tf):
    """Returns the losses of one process with the global batch, by steps from 1 on."""
    w, losses = tf.Variable(tf.zeros([3, 1])), []
    for step in range(1, steps + 1):
        parts = [batch(step, replica, tf) for replica in range(2)]
        with tf.GradientTape() as tape:
            loss = sum(tf.reduce_mean((x @ w - y) ** 2) for x, y in parts) / 2.0
        w.assign_sub(0.05 * tape.gradient(loss, w))
        losses.append(float(loss))
    return losses


def train(folder, index, addresses, timeout, last, tf):
    """Trains as one of the workers, up to a step; writes down each step, each save and where it began."""
    task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
    os.environ["TF_CONFIG"] = json.dumps(task)
    log = open(folder / f"log{index}", "a", buffering=1)  # noqa: SIM115  # until the process ends, in whatever way
    options = tf.distribute.experimental.CommunicationOptions(timeout_seconds=timeout)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    with strategy.scope():
        w = tf.Variable(tf.zeros([3, 1]))
    step = tf.Variable(0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(w=w, step=step), str(folder / "checkpoints"), 3)
    manager.restore_or_initialize()
    print("began", int(step), file=log)

    @tf.function
    def next_step(number):
        def replica():
            context = tf.distribute.get_replica_context()
            x, y = batch(number, context.replica_id_in_sync_group, tf)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x @ w - y) ** 2) / 2.0
            w.assign_sub(0.05 * context.all_reduce("SUM", tape.gradient(loss, w)))
            return loss

        return strategy.reduce("SUM", strategy.run(replica), axis=None)

    while int(step) < last:
        step.assign_add(1)
        print("step", int(step), float(next_step(step)), file=log)
        if index == 0 and int(step) % SAVE_EVERY == 0:
            manager.save()
            print("saved", int(step), file=log)


class Network:
    """Two hosts on this machine and the cable between them: this one, and a network namespace."""

    HOSTS = ("10.213.77.1", "10.213.77.2")

    def __init__(self):
        self.name = f"faults{os.getpid()}"
        self._ends = f"{self.name}a", f"{self.name}b"
        self._ip("netns", "add", self.name)
        self._ip("link", "add", self._ends[0], "type", "veth", "peer", "name", self._ends[1], "netns", self.name)
        for end, host in enumerate(self.HOSTS):
            self._ip("addr", "add", f"{host}/30", "dev", self._ends[end], at=end)
            self.set("up", end)
        self._ip("link", "set", "lo", "up", at=1)

    @staticmethod
    def is_possible():
        return sys.platform == "linux" and os.geteuid() == 0 and shutil.which("ip") is not None

    def set(self, state, end):
        """Plugs one end of the cable in ("up") or out ("down")."""
        self._ip("link", "set", self._ends[end], state, at=end)

    def enter(self):
        """Moves this process to the second host."""
        with open(f"/run/netns/{self.name}") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0x40000000):  # CLONE_NEWNET
                raise OSError(ctypes.get_errno(), "setns")

    def close(self):
        self._ip("netns", "del", self.name)

    def _ip(self, *command, at=0):
        subprocess.run(["ip", *(["-n", self.name] if at else []), *command], check=True)


def in_child(*arguments, slow, network, tf):
    """Starts a worker; returns the id of its process."""
    child = os.fork()
    if not child:
        code = 1
        try:
            if network is not None and arguments[1]:
                network.enter()
            if slow:
                sync = os.fsync
                os.fsync = lambda file: (time.sleep(0.2), sync(file))
            train(*arguments, tf)
            code = 0
        except (tf.errors.UnavailableError, tf.errors.DeadlineExceededError):
            code = GAVE_UP
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


class Job:
    """The two workers of one start.

    Args:
        folder: where they write.
        timeout: that of their collectives.
        last: the step that they train up to.
        slow: whether the disk of the first one is slow.
        network: between the two; None for loopback.
    """

    def __init__(self, folder, timeout, last, slow, network, tf):
        hosts = ("127.0.0.1",) * 2 if network is None else network.HOSTS
        with socket.socket() as a, socket.socket() as b:
            for each in (a, b):
                each.bind(("127.0.0.1", 0))
            addresses = [f"{host}:{each.getsockname()[1]}" for host, each in zip(hosts, (a, b), strict=True)]
        self.codes = {}
        self.workers = [
            in_child(folder, i, addresses, timeout, last, slow=slow and i == 0, network=network, tf=tf)
            for i in range(2)
        ]

    def ended(self, seconds):
        """Waits for so long until all have ended; returns whether they have."""
        deadline = time.monotonic() + seconds
        while len(self.codes) < 2 and time.monotonic() < deadline:
            for pid in set(self.workers) - set(self.codes):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    self.codes[pid] = os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        return len(self.codes) == 2

    def end(self):
        """Kills those that still run."""
        for pid in set(self.workers) - set(self.codes):
            os.kill(pid, signal.SIGKILL)
        self.ended(10)


def lines(folder):
    """Returns what the workers wrote down, in order, by the number of the worker."""
    return [[line.split() for line in (folder / f"log{i}").read_text().splitlines()] for i in range(2)]


def count_of(folder, word):
    return sum(line[0] == word for worker in lines(folder) for line in worker)


def disturb(job, kind, rng, folder, timeout, network):
    """Disturbs a job, and returns what went wrong, or an empty string."""
    victim, before = rng.choice(job.workers), count_of(folder, "step")
    if rng.random() < 0.85:  # else while they meet
        deadline = time.monotonic() + 30
        while count_of(folder, "step") < before + 2 and time.monotonic() < deadline and not job.ended(0.01):
            pass
    time.sleep(rng.uniform(0, 0.4))
    if job.ended(0):
        return f"a worker ended by itself: {job.codes.values()}"
    if kind in ("pause", "slow disk"):
        if kind == "pause":
            os.kill(victim, signal.SIGSTOP)
            time.sleep(timeout / 4)
            os.kill(victim, signal.SIGCONT)
        before, deadline = count_of(folder, "step"), time.monotonic() + 30
        while count_of(folder, "step") < before + 4 and time.monotonic() < deadline:
            if job.ended(0.01):
                return f"the workers did not go on: {job.codes.values()}"
        return "" if count_of(folder, "step") >= before + 4 else "a hang"
    if kind == CUT:
        end = rng.randrange(2)
        network.set("down", end)
        job.ended(timeout + 20)
        network.set("up", end)
        codes = [job.codes.get(pid, "a hang") for pid in job.workers]
        return "" if codes == [GAVE_UP] * 2 else f"the workers: {codes}"
    for pid in job.workers if kind == "kill both" else [victim]:
        os.kill(pid, signal.SIGSTOP if kind == "stop" else signal.SIGKILL)
    deadline = time.monotonic() + timeout + 20
    survivor = next(pid for pid in job.workers if pid != victim)
    while survivor not in job.codes and time.monotonic() < deadline:
        job.ended(0.01)
    expected = -signal.SIGKILL if kind == "kill both" else GAVE_UP
    return "" if job.codes.get(survivor) == expected else f"the other worker: {job.codes.get(survivor, 'a hang')}"


def lost_steps(folder):
    """Returns the number of times that training began before the last checkpoint."""
    chief, lost, saved = lines(folder)[0], 0, 0
    for line in chief:
        lost += line[0] == "began" and int(line[1]) < saved
        saved = int(line[1]) if line[0] == "saved" else saved
    return lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=3.0, help="of the collectives, in seconds")
    arguments = parser.parse_args()
    import torch

    import tapeflow as tf

    torch.set_num_threads(1)
    tf.get_logger().setLevel("ERROR")
    rng, wrong, counts = random.Random(arguments.seed), [], collections.Counter()
    kinds = (*KINDS, CUT) if Network.is_possible() else KINDS
    network = Network() if CUT in kinds else None
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as at_end:
        if network is not None:
            at_end.callback(network.close)
        folder = pathlib.Path(name)
        for i in range(2):
            (folder / f"log{i}").touch()
        for number in range(arguments.faults):
            kind = rng.choice(kinds)
            counts[kind] += 1
            job = Job(folder, arguments.timeout, 10**9, kind == "slow disk", network if kind == CUT else None, tf)
            problem = disturb(job, kind, rng, folder, arguments.timeout, network)
            job.end()
            if problem:
                wrong.append(f"fault {number}, {kind}: {problem}")
                print(wrong[-1], flush=True)
        reached = max(int(line[1]) for worker in lines(folder) for line in worker)
        job = Job(folder, arguments.timeout, reached + 5, False, None, tf)
        if not job.ended(60) or set(job.codes.values()) != {0}:
            wrong.append(f"the last start: {job.codes}")
        job.end()
        losses = alone(reached + 5, tf)
        steps = [(int(line[1]), float(line[2])) for worker in lines(folder) for line in worker if line[0] == "step"]
        differ = sum(abs(loss - losses[step - 1]) > 1e-5 * max(1.0, losses[step - 1]) for step, loss in steps)
        children = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        lost, left = lost_steps(folder), [p.name for p in (folder / "checkpoints").iterdir() if "tmp" in p.name]
    print(f"{arguments.faults} faults in {time.monotonic() - start:.0f} s: {dict(counts)}")
    print(f"{reached + 5} steps, {len(steps)} runs of them of which {differ} differ; began before a checkpoint: {lost}")
    print(f"went wrong: {len(wrong)}; orphans: {len(children)}; temporary files: {len(left)}")
    sys.exit(bool(wrong or differ or lost or children))


if __name__ == "__main__":
    main()
