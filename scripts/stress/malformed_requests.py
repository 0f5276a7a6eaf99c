#!/usr/bin/env python3
"""Sends malformed requests to a served model, and prints what they are answered.

    python scripts/stress/malformed_requests.py [--requests 1000] [--seed 0]

The damage is done to bytes on the connection: to the JSON, the head, the length, the chunks and the compression of a
request. Nothing may be answered 500, the server has to answer a good request after each hundred, and only where
the client itself closes the connection before its request is whole may there be no answer.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import pathlib
import random
import string
import sys
import tempfile
from collections import Counter
from collections.abc import Callable

HOME = pathlib.Path(__file__).resolve().parents[2]
PATH = "/v1/models/model:predict"
GOOD = json.dumps({"instances": [{"x": [1, 2], "words": "ab"}]}).encode()
SECONDS = 20.0


def request(body: bytes, *headers: str, path: str = PATH, length: str | None = None) -> bytes:
    """Returns the bytes of a request."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", *headers]
    if length is None and not any(h.startswith("Transfer-Encoding") for h in headers):
        length = str(len(body))
    lines += [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


def of_json(rng: random.Random) -> bytes:
    """A body whose text is damaged."""
    body = GOOD
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(len(body))
        inserted = rng.choice([*'{}[]",:0e-', "null", "1e999", "NaN", "\\ud800", rng.choice(string.printable), "\xff"])
        body = body[:i] + inserted.encode("latin-1") + body[i + rng.randint(0, 3) :]
    return request(body)


def of_values(rng: random.Random) -> bytes:
    """A body of JSON that is not what the model takes."""
    deep = "[" * 100_000 + "]" * 100_000
    many = "9" * 6000
    texts = [
        "", "null", "3", "[]", "{}", deep, f'{{"instances": {deep}}}', '{"instances": []}', '{"inputs": {"x": {}}}',
        f'{{"instances": [{{"x": [{many}, 0], "words": ""}}]}}', '{"signature_name": {}, "instances": [1]}',
        *[f'{{"instances": [{{"x": [1, 2], "words": {w}}}]}}' for w in ('{"b64": "#"}', '{"b64": 3}', "[[]]")],
        f'{{"instances": {"[" * 900}{"]" * 900}}}', f'{{"instances": {"[" * 20}{deep[:900]}{"]" * 20}}}',
        *[f'{{"instances": [{{"x": [1, 2], "words": "{w}"}}]}}' for w in ("\\ud800", "\\udc00\\ud800", "\\u0000")],
        *[f'{{"instances": [{{"x": [{n}, 0], "words": ""}}]}}' for n in ("1e400", "-Infinity", "1" + "0" * 400, "{}")],
        f'{{"{chr(0x5C)}ud800": 1, "instances": [1]}}', '{"instances": [{"x": [1, 2], "words": {"b64": "\u00e9"}}]}',
        '{"instances": [1, "a", null, [2]]}',
        '{"instances": [{"x": [1], "words": "a"}, {"x": [1, 2], "words": "b"}]}', '{"x": 1, "x": 2}', "\ufeff{}",
    ]  # fmt: skip
    return request(rng.choice(texts).encode())


def of_head(rng: random.Random) -> bytes:
    """A head with a few other bytes."""
    head, _, body = request(GOOD, "Connection: close").partition(b"\r\n\r\n")
    damaged = bytearray(head)
    for _ in range(rng.randint(1, 3)):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged) + b"\r\n\r\n" + body


def of_length(rng: random.Random) -> bytes:
    """A length that is not the body's."""
    lengths = ["-1", "+5", "0x10", "1e2", "", " ", "9" * 30, "3, 3", "3\r\nContent-Length: 4", "0", str(len(GOOD) - 3)]
    return request(GOOD, length=rng.choice(lengths))


def of_chunks(rng: random.Random) -> bytes:
    """A body in chunks with wrong sizes or ends."""
    size = rng.choice(["zz", "-1", "", "f" * 40, "5;ext=\x00", "5\r", f"{len(GOOD) - 2:x}", f"{len(GOOD):x}\n"])
    header = rng.choice(["chunked", "chunked, chunked", "gzip, chunked", "identity", "Chunked\x0b"])
    body = size.encode() + b"\r\n" + GOOD + rng.choice([b"\r\n0\r\n\r\n", b"0\r\n\r\n", b"\n\n"])
    return request(body, f"Transfer-Encoding: {header}")


def of_encoding(rng: random.Random) -> bytes:
    """A body that is not compressed, or written, as its headers say."""
    packed = bytearray(gzip.compress(GOOD * rng.choice([1, 1000])))
    if rng.random() < 0.7:
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    encoding = rng.choice(["gzip", "deflate", "br", "zstd", "gzip, gzip", "snappy"])
    charset = rng.choice(["utf-8", "utf-16", "latin-1", "nonsense", "\x00"])
    return request(bytes(packed), f"Content-Encoding: {encoding}", f"Content-Type: application/json; charset={charset}")


def of_path(rng: random.Random) -> bytes:
    """A path or a header that is too long, or no path."""
    paths = ["", "*", "//", "/%", "/v1/models/%00:predict", "/" * 5000, "/v1/models/model:" + "a" * 9000,
             "http://[::1/", "/v1/models/model/versions/-1:predict", "/v1/models/model/labels/%ff:predict",
             "/v1/models/model/labels/" + "a" * 5000, "/v1/models/model/labels/a/versions/1",
             "/v1/models/../../etc/passwd",
             "/v1/models/model:predict?" + "a=1&" * 3000]  # fmt: skip
    if rng.random() < 0.2:
        return request(GOOD, f"X-Long: {'a' * 100_000}")
    return request(GOOD, path=rng.choice(paths))


def of_noise(rng: random.Random) -> bytes:
    """Random bytes, which end like a head."""
    return rng.randbytes(rng.randint(1, 400)) + b"\r\n\r\n"


def cut(rng: random.Random) -> bytes:
    """A good request of which the end is missing."""
    whole = request(GOOD)
    return whole[: rng.randrange(1, len(whole))]


KINDS: list[Callable[[random.Random], bytes]] = [
    of_json, of_values, of_head, of_length, of_chunks, of_encoding, of_path, of_noise, cut,
]  # fmt: skip


async def answer(port: int, data: bytes, closes: bool) -> str:
    """Returns the status that some bytes are answered with; "closed", or "waits" if the server waits for more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        await writer.drain()
        if closes:
            writer.write_eof()
        try:
            line = await asyncio.wait_for(reader.readline(), SECONDS if closes else 2.0)
        except TimeoutError:
            return "waits"
        return line.split(b" ")[1].decode() if line.startswith(b"HTTP/") else "closed"
    except ConnectionError:
        return "closed"
    finally:
        writer.close()


async def attack(port: int, count: int, seed: int) -> tuple[Counter[tuple[str, str]], list[bytes]]:
    """Sends malformed requests to the model `model` at a port.

    Returns:
        How many of each kind got which answer, and the requests without an answer that are no fault of the client's.

    Raises:
        AssertionError: a good request got no answer.
    """
    rng = random.Random(seed)
    answers: Counter[tuple[str, str]] = Counter()
    unanswered = []
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        data = kind(rng)
        status = await answer(port, data, closes=kind is cut)
        answers[kind.__name__, status] += 1
        if status == "closed" and kind is not cut:
            unanswered.append(data)
        if i % 100 == 99 or i == count - 1:
            good = await answer(port, request(GOOD), False)
            assert good == "200", good
    return answers, unanswered


def save(folder: pathlib.Path) -> None:
    """Writes the model."""
    import tapeflow as tf

    module = tf.Module()
    specs = [tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([None], tf.string, "words")]
    module.f = tf.function(lambda x, words: {"sum": tf.reduce_sum(x, 1), "words": words}, input_signature=specs)
    tf.saved_model.save(module, folder, signatures=module.f)


async def run(count: int, seed: int) -> tuple[Counter[tuple[str, str]], list[bytes]]:
    """Serves the model, and attacks it."""
    from aiohttp.test_utils import TestServer

    from tapeflow.serving import Servable
    from tapeflow.serving.server import Server

    with tempfile.TemporaryDirectory() as folder:
        save(pathlib.Path(folder))
        async with TestServer(Server([Servable("model", folder)]).application()) as server:
            return await attack(server.port, count, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path.insert(0, str(HOME / "src"))
    answers, unanswered = asyncio.run(run(options.requests, options.seed))
    for (kind, status), count in sorted(answers.items()):
        print(f"{kind:12} {status:8} {count}")
    for data in unanswered[:20]:
        print("no answer:", data[:200])


if __name__ == "__main__":
    main()
