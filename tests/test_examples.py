"""The MNIST example run as a user runs it, and its loader when the download is wrong or there is no network."""

import hashlib
import importlib
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import TENSORS, EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"

pytest.importorskip("tqdm")
pytest.importorskip("matplotlib")


@pytest.fixture
def mnist_data(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import mnist_data

    return mnist_data


@pytest.fixture
def archive(tmp_path):
    """A tiny file in MNIST's layout: where it lies, its URL and its checksum."""
    path = tmp_path / "server" / "mnist.npz"
    path.parent.mkdir()
    images, labels = np.zeros([4, 28, 28], np.uint8), np.arange(4, dtype=np.uint8)
    np.savez(path, x_train=images, y_train=labels, x_test=images, y_test=labels)
    return path, path.as_uri(), hashlib.sha256(path.read_bytes()).hexdigest()


def run_example(*arguments, cwd, example="mnist.py"):
    search = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"PYTHONPATH": search, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, str(EXAMPLES / example), *arguments], cwd=cwd, env=env, capture_output=True, text=True
    )


# --- the example -----------------------------------------------------------------------------


QUICK = ("--sample", "--batch", "250", "--learning-rate", "0.01")


def accuracy(done):
    assert done.returncode == 0, done.stderr
    return float(re.search(r"Test accuracy: ([\d.]+)% of 1,400 images", done.stdout)[1])


def logged(folder, tag):
    """The values of a scalar summary by their steps, as TensorBoard reads them."""
    events = EventAccumulator(str(folder), size_guidance={TENSORS: 0}).Reload().Tensors(tag)
    return {e.step: make_ndarray(e.tensor_proto).item() for e in events}


def test_trains_on_the_sample_then_goes_on_as_if_it_had_never_stopped(tmp_path):
    first = run_example(*QUICK, "--epochs", "1", cwd=tmp_path)
    assert "7,000 training and 1,400 test images, 1 epochs" in first.stdout
    assert "epoch 1/1" in first.stderr  # the progress bar
    assert accuracy(first) > 75
    out = tmp_path / "runs" / "mnist_sample"
    picture = (out / "loss.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n") and len(picture) > 5_000
    assert sorted(logged(out / "logs", "loss")) == list(range(1, 29))
    assert logged(out / "logs", "test accuracy")[28] == pytest.approx(accuracy(first) / 100, abs=1e-4)

    second = run_example(*QUICK, "--epochs", "2", cwd=tmp_path)
    assert (
        "Going on after epoch 1" in second.stdout and "epoch 2/2" in second.stderr and "epoch 1/2" not in second.stderr
    )
    in_two_runs = logged(out / "logs", "loss")
    at_once = run_example(*QUICK, "--epochs", "2", "--restart", cwd=tmp_path)
    assert logged(out / "logs", "loss") == in_two_runs
    assert accuracy(at_once) == accuracy(second) > accuracy(first)

    newest = max((out / "checkpoints").glob("*.data-*"))
    newest.write_bytes(newest.read_bytes()[:-100])
    damaged = run_example(*QUICK, cwd=tmp_path)
    assert damaged.returncode == 1
    assert "ckpt-2 cannot be restored" in damaged.stderr and "--restart begins again" in damaged.stderr
    assert "Traceback" not in damaged.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epochs", "0"], "0 is not above 0"),
        (["--batch", "many"], "invalid int value: 'many'"),
        (["--learning-rate", "nan"], "nan is not above 0"),
        (["--sample", "--out", "taken/mnist"], "Cannot use the folder --out taken/mnist"),
    ],
)
def test_refuses_bad_options_in_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    (tmp_path / "taken").write_text("a file where a folder is asked for")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["mnist.py", *arguments])
    with pytest.raises(SystemExit) as refused:
        importlib.import_module("mnist").main()
    assert message in capsys.readouterr().err + str(refused.value)


def test_says_so_when_the_loss_is_lost(tmp_path):
    done = run_example("--sample", "--batch", "500", "--learning-rate", "1e30", cwd=tmp_path)
    assert done.returncode == 1
    assert "try a lower --learning-rate" in done.stderr and "Traceback" not in done.stderr


# --- the data service ------------------------------------------------------------------------


def test_other_processes_prepare_the_images_also_when_one_dies(tmp_path):
    pytest.importorskip("grpc")
    done = run_example("--elements", "160", "--kill", cwd=tmp_path, example="data_service.py")
    assert done.returncode == 0, done.stderr
    assert "160 images of (32, 32, 3), 160 different ones" in done.stdout


# --- the loader ------------------------------------------------------------------------------


def test_downloads_once_then_reads_the_cache(mnist_data, archive, tmp_path):
    server, url, sha256 = archive
    cache = tmp_path / "cache" / "mnist.npz"
    digits, is_sample = mnist_data.load(url=url, sha256=sha256, cache=cache)
    assert not is_sample and digits.y_train.tolist() == [0, 1, 2, 3]
    assert cache.read_bytes() == server.read_bytes()
    server.unlink()
    digits, is_sample = mnist_data.load(url=url, sha256=sha256, cache=cache)
    assert not is_sample and digits.x_test.shape == (4, 28, 28)


def test_a_bad_checksum_refuses_the_file_and_leaves_the_cache_as_it_was(mnist_data, archive, tmp_path):
    _, url, _ = archive
    cache = tmp_path / "cache" / "mnist.npz"
    with pytest.raises(mnist_data.ChecksumError, match=f"not the expected {'0' * 64}: nothing was kept"):
        mnist_data.load(url=url, sha256="0" * 64, cache=cache)
    assert list(cache.parent.iterdir()) == []

    cache.write_bytes(b"what was there before")
    with pytest.raises(mnist_data.ChecksumError):
        mnist_data.load(url=url, sha256="0" * 64, cache=cache)
    assert [path.read_bytes() for path in cache.parent.iterdir()] == [b"what was there before"]


def test_a_corrupt_cache_is_downloaded_again(mnist_data, archive, tmp_path, capsys):
    server, url, sha256 = archive
    cache = tmp_path / "mnist.npz"
    cache.write_bytes(server.read_bytes()[:100])
    _, is_sample = mnist_data.load(url=url, sha256=sha256, cache=cache)
    assert not is_sample and cache.read_bytes() == server.read_bytes()
    assert "downloading it again" in capsys.readouterr().out


def test_without_a_network_it_says_so_and_takes_the_sample(mnist_data, tmp_path, capsys):
    cache = tmp_path / "cache" / "mnist.npz"
    digits, is_sample = mnist_data.load(url=(tmp_path / "absent.npz").as_uri(), cache=cache)
    assert is_sample
    (message,) = capsys.readouterr().out.splitlines()
    assert message.startswith("MNIST could not be downloaded (No such file or directory)")
    assert message.endswith("training on the smaller sample in mnist_sample.npz instead.")
    assert list(cache.parent.iterdir()) == []
    assert np.bincount(digits.y_train).tolist() == [700] * 10
    assert np.bincount(digits.y_test).tolist() == [140] * 10


def test_a_connection_that_breaks_off_leaves_nothing_behind(mnist_data, archive, tmp_path, monkeypatch, capsys):
    _, url, sha256 = archive
    cache = tmp_path / "cache" / "mnist.npz"
    monkeypatch.setattr(mnist_data.urllib.request, "urlopen", CutOff)
    _, is_sample = mnist_data.load(url=url, sha256=sha256, cache=cache)
    assert is_sample and list(cache.parent.iterdir()) == []
    assert "the connection broke off after 4 of 100 bytes" in capsys.readouterr().out


class CutOff:
    """A response that promises 100 bytes and ends after four."""

    def __init__(self, url, timeout):
        self.headers = {"Content-Length": "100"}
        self.chunks = [b"four", b""]

    def read(self, size):
        return self.chunks.pop(0)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def test_the_cache_is_where_keras_keeps_it(mnist_data, monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert mnist_data.cache_path() == tmp_path / "datasets" / "mnist.npz"
    monkeypatch.delenv("KERAS_HOME")
    assert mnist_data.cache_path() == pathlib.Path.home() / ".keras" / "datasets" / "mnist.npz"
