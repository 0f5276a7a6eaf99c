"""The options of `tapeflow serve`: what the server that they describe gets. Nothing is served."""

import importlib
import sys

import pytest

import tapeflow as tf
from tapeflow.__main__ import main
from tapeflow.serving import configs

pytest.importorskip("aiohttp")
server = importlib.import_module("tapeflow.serving.server")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "half"
    module = tf.Module()
    module.f = tf.function(lambda x: {"y": x / 2.0}, input_signature=[tf.TensorSpec([None], name="x")])
    tf.saved_model.save(module, str(path), signatures=module.f.get_concrete_function())
    return path


@pytest.fixture
def served(monkeypatch):
    """The servers that would have run, with their endpoints."""
    found = []
    monkeypatch.setattr(server, "run", lambda *args: found.append(args))
    return found


def test_defaults(folder, served):
    assert main(["serve", str(folder)]) == 0
    (made, endpoints), = served  # fmt: skip
    assert endpoints == ("127.0.0.1", 8501, None, 1.0, None, 0.0)
    assert list(made.manager.models) == ["half"]
    assert made.most_bytes == 64 << 20


def test_options(folder, served):
    arguments = [
        f"own={folder}", f"other={folder}", "--host", "0.0.0.0", "--port=0", "--grpc_port", "8500",
        "--file-system-poll-wait-seconds", "0", "--max-request-mb", "3", "--max_result_mb=5",
    ]  # fmt: skip
    assert main(["serve", *arguments]) == 0
    (made, endpoints), = served  # fmt: skip
    assert endpoints == ("0.0.0.0", 0, 8500, 0.0, None, 0.0)
    assert list(made.manager.models) == ["own", "other"]
    assert made.most_bytes == 3 << 20


def test_config_files(folder, served, tmp_path):
    file = tmp_path / "models.config"
    file.write_text(
        f"model_config_list {{ config {{ name: 'm' base_path: '{folder}' model_platform: 'tensorflow' }} }}"
    )
    arguments = ["--model-config-file", str(file), "--model-config-file-poll-wait-seconds", "2.5"]
    assert main(["serve", *arguments]) == 0
    (made, endpoints), = served  # fmt: skip
    assert endpoints == ("127.0.0.1", 8501, None, 1.0, str(file), 2.5)
    assert list(made.manager.models) == ["m"]


def batching(monkeypatch, folder, *arguments):
    found = []
    original = server.Server.__init__

    def init(self, models, batching, *rest):
        found.append(batching)
        original(self, models, batching, *rest)

    monkeypatch.setattr(server.Server, "__init__", init)
    assert main(["serve", str(folder), *arguments]) == 0
    return found[0]


@pytest.mark.parametrize(("arguments", "rows", "seconds", "threads"), [
    ([], configs.JOINED.max_rows, 0.001, configs.JOINED.threads),
    (["--max-batch-size", "7", "--batch-timeout-ms", "20", "--threads", "3"], 7, 0.02, 3),
    (["--enable-batching=false", "--threads=3"], 1, 0.0, 3),
    (["--enable_batching=0", "--max-batch-size", "7", "--threads=2"], 1, 0.0, 2),
    (["--enable-batching", "--max-batch-size", "7", "--threads=2"], 7, 0.001, 2),
    (["--enable-batching=TRUE", "--max-batch-size", "7", "--threads=2"], 7, 0.001, 2),
])  # fmt: skip
def test_batching(folder, served, monkeypatch, arguments, rows, seconds, threads):
    expected = configs.Batching(rows, seconds, threads)
    assert batching(monkeypatch, folder, *arguments) == expected


def test_batching_files(folder, served, monkeypatch, tmp_path, capsys):
    file = tmp_path / "batching.config"
    file.write_text("max_batch_size { value: 9 }")
    found = batching(monkeypatch, folder, f"--batching-parameters-file={file}")
    assert found.max_rows == 9
    assert main(["serve", str(folder), f"--batching-parameters-file={file}", "--enable-batching=false"]) == 1
    assert "without setting --enable_batching to true" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "name models, or a --model_config_file, and not both"),
    (["m", "--model-config-file=f"], "and not both"),
    (["m", "--port", "65536"], "65536 is not between 0 and 65535"),
    (["m", "--port", "-1"], "-1 is not between"),
    (["m", "--threads", "0"], "0 is less than 1"),
    (["m", "--batch-timeout-ms", "-1"], "-1 is no time of 0 or more"),
    (["m", "--batch-timeout-ms", "inf"], "inf is no time of 0 or more"),
    (["m", "--batch-timeout-ms", "nan"], "nan is no time of 0 or more"),
    (["m", "--enable-batching=maybe"], "maybe is neither true nor false"),
    (["m", "--max-memory-mb=0"], "0 is less than 1"),
])  # fmt: skip
def test_arguments_that_are_refused(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_packages_that_are_missing(folder, served, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "grpc", None)
    assert main(["serve", str(folder), "--grpc-port", "8500"]) == 1
    assert capsys.readouterr().err == "tapeflow serve needs grpc: pip install tapeflow[serve]\n"
    assert main(["serve", str(folder)]) == 0
    monkeypatch.setitem(sys.modules, "tapeflow.serving.server", None)
    assert main(["serve", str(folder)]) == 1
    assert "pip install tapeflow[serve]" in capsys.readouterr().err


def test_limits_of_memory(folder, served, monkeypatch):
    resource = pytest.importorskip("resource")
    limits = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limit: limits.append((kind, limit)))
    assert main(["serve", str(folder), "--max-memory-mb", "3000"]) == 0
    assert limits == [(resource.RLIMIT_DATA, (3000 << 20, resource.getrlimit(resource.RLIMIT_DATA)[1]))]
