#!/usr/bin/env python3
"""Read images that other processes prepare: a dispatcher, workers, and what reads them, such as a training.

    python examples/data_service.py [--workers N] [--elements N] [--kill]

This starts all processes on this machine; `--kill` ends a worker on the way, whose share goes to the others. On several
machines, start each by itself:

    python examples/data_service.py --serve 5050                                   # the dispatcher, on host0
    python examples/data_service.py --work host0:5050 --address host1:%port%       # a worker, on host1
    python examples/data_service.py --read host0:5050                              # what reads
"""

import argparse
import contextlib
import subprocess
import sys
import time

import tapeflow as tf

service = tf.data.experimental.service


def serve(port: int) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        dispatcher = service.DispatchServer(service.DispatcherConfig(port=port))
        print(dispatcher.target.partition("://")[2], flush=True)
        dispatcher.join()


def work(dispatcher: str, address: str) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        worker = service.WorkerServer(service.WorkerConfig(dispatcher, worker_address=address))
        print(worker._address, flush=True)
        worker.join()


def prepare(number: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns what stands for an image that takes a while to prepare, and its label."""
    image = tf.random.stateless_normal([64, 64, 3], [number, 0])
    return tf.image.resize(tf.image.adjust_contrast(image, 1.5), [32, 32]), number


def read(dispatcher: str, elements: int, halfway: contextlib.ExitStack) -> None:
    dataset = tf.data.Dataset.range(elements).map(prepare).batch(16)
    dataset = dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher, max_outstanding_requests=4))
    begin, labels, shape = time.perf_counter(), [], None
    for step, (images, numbers) in enumerate(dataset):
        labels += numbers.numpy().tolist()
        shape = images.shape[1:]
        if step == elements // 32:
            halfway.close()
    took = time.perf_counter() - begin
    print(f"{len(labels)} images of {shape}, {len(set(labels))} different ones, {len(labels) / took:.0f}/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="how many workers to start (%(default)s)")
    parser.add_argument("--elements", type=int, default=2000, help="how many images to prepare (%(default)s)")
    parser.add_argument("--kill", action="store_true", help="kill a worker halfway")
    parser.add_argument("--serve", type=int, metavar="PORT", help="run the dispatcher alone")
    parser.add_argument("--work", metavar="DISPATCHER", help="run a worker alone")
    parser.add_argument("--address", default="localhost:%port%", help="the address of that worker (%(default)s)")
    parser.add_argument("--read", metavar="DISPATCHER", help="read alone")
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
    elif options.work:
        work(options.work, options.address)
    elif options.read:
        read(options.read, options.elements, contextlib.ExitStack())
    else:
        with contextlib.ExitStack() as servers, contextlib.ExitStack() as halfway:
            dispatcher, _ = start(servers, "--serve", "0")
            workers = [start(servers, "--work", dispatcher) for _ in range(options.workers)]
            if options.kill:
                halfway.callback(workers[0][1].kill)
            read(dispatcher, options.elements, halfway)


def start(servers: contextlib.ExitStack, *arguments: str) -> tuple[str, subprocess.Popen]:
    """Starts this program as a server; returns its address and its process, which ends with `servers`."""
    process = subprocess.Popen([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True)
    servers.callback(process.wait)
    servers.callback(process.kill)
    assert process.stdout is not None
    servers.enter_context(process.stdout)
    return process.stdout.readline().strip(), process


if __name__ == "__main__":
    main()
