"""The MNIST handwritten digits: downloaded and checked once, then read from the cache that Keras uses too.

Where there is no network, a real sample of MNIST that comes with this repository takes its place.
"""

import hashlib
import os
import pathlib
import urllib.request
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

# The archive that `keras.datasets.mnist.load_data()` downloads, and its published SHA-256.
URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
SHA256 = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
SAMPLE = pathlib.Path(__file__).resolve().parent / "data" / "mnist_sample.npz"
TIMEOUT_SECONDS = 10
CHUNK_BYTES = 1 << 16


class ChecksumError(ValueError):
    """What was downloaded is not the file that was asked for."""


class Mnist(NamedTuple):
    """Images are uint8 of shape [n, 28, 28], labels uint8 of shape [n]."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def cache_path() -> pathlib.Path:
    """Where Keras keeps its copy: $KERAS_HOME/datasets/mnist.npz, by default under ~/.keras."""
    home = os.environ.get("KERAS_HOME") or pathlib.Path.home() / ".keras"
    return pathlib.Path(home) / "datasets" / "mnist.npz"


def load(sample=False, url=URL, sha256=SHA256, cache=None) -> tuple[Mnist, bool]:
    """Returns the digits, and whether they are only the repository's sample.

    Raises:
        ChecksumError: the download is not the file with this SHA-256. The cache is left as it was.
    """
    if sample:
        print(f"Training on the sample of MNIST in {SAMPLE.name}.")
        return read(SAMPLE), True
    cache = cache or cache_path()
    if cache.is_file():
        if sha256_of(cache) == sha256:
            return read(cache), False
        print(f"{cache} is not the MNIST archive (its checksum differs): downloading it again.")
    try:
        download(url, cache, sha256)
    except OSError as error:  # URLError and time-outs are OSErrors, and so is a cache that cannot be written
        cause = getattr(error, "reason", None) or error
        reason = getattr(cause, "strerror", None) or cause
        print(f"MNIST could not be downloaded ({reason}): training on the smaller sample in {SAMPLE.name} instead.")
        return read(SAMPLE), True
    return read(cache), False


def read(path) -> Mnist:
    with np.load(path, allow_pickle=False) as arrays:
        return Mnist(*(arrays[name] for name in Mnist._fields))


def sha256_of(path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(url, path, sha256) -> None:
    """Fetches `url` into `path`. The file appears there whole and checked, or not at all.

    Raises:
        OSError: no connection, or it broke off, or the file could not be written.
        ChecksumError: the file arrived but is another one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            copy(response, part)
        found = sha256_of(part)
        if found != sha256:
            raise ChecksumError(f"{url} has SHA-256 {found}, not the expected {sha256}: nothing was kept.")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def copy(response, path) -> None:
    size = int(response.headers.get("Content-Length") or 0)
    with (
        open(path, "wb") as file,
        tqdm(total=size or None, desc="downloading MNIST", unit="B", unit_scale=True, leave=False) as bar,
    ):
        while chunk := response.read(CHUNK_BYTES):
            file.write(chunk)
            bar.update(len(chunk))
        if size and bar.n != size:
            raise ConnectionError(f"the connection broke off after {bar.n} of {size} bytes")
