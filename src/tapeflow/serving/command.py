"""`tapeflow serve`: models for TensorFlow Serving's clients, from the command line."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from typing import Any

from tapeflow.core import errors
from tapeflow.serving import configs
from tapeflow.serving.models import LoadRetries, Servable

_FLAGS = """flags of tensorflow_model_server:
  --port, --rest_api_port          --grpc-port, --port
  --model_name, --model_base_path  MODEL as NAME=PATH
  --model_config_file, --model_config_file_poll_wait_seconds, --file_system_poll_wait_seconds,
  --max_num_load_retries, --load_retry_interval_micros, --enable_batching, --batching_parameters_file,
  --monitoring_config_file, --rest_api_enable_cors_support
                                   the same names, with - or _
  --allow_version_labels_for_unavailable_models
                                   not needed: labels name any version that their config loads
  --tensorflow_session_parallelism, --tensorflow_inter_op_parallelism, --rest_api_num_threads, --grpc_max_threads
                                   --threads
  --tensorflow_intra_op_parallelism
                                   the environment's OMP_NUM_THREADS
  --num_load_threads, --num_unload_threads, --flush_filesystem_caches
                                   not needed: models load in a thread of their own
  --enable_signature_method_name_check, --remove_unused_fields_from_bundle_metagraph,
  --enable_serialization_as_tensor_content
                                   not needed
  --rest_api_timeout_in_ms, --enable_per_model_batching_parameters, --enable_model_warmup,
  --num_request_iterations_for_warmup, --saved_model_tags, --ssl_config_file, --use_alts_credentials,
  --grpc_socket_path, --grpc_channel_arguments, --enable_grpc_healthcheck_service, --enable_profiler,
  --platform_config_file, --tensorflow_session_config_file, --thread_pool_factory_config_file,
  --per_process_gpu_memory_fraction, --mixed_precision, --prefer_tflite_model, --num_tflite_pools,
  --num_tflite_interpreters_per_pool, --xla_cpu_compilation_enabled, --xla_gpu_compilation_enabled
                                   not supported"""


def serve_command(arguments: list[str]) -> int:
    """Serves the models that a command line names, until the process is told to stop, and returns the exit status."""
    parser = _make_parser()
    options = parser.parse_args([re.sub("^--[^=]+", lambda m: m[0].replace("_", "-"), a) for a in arguments])
    if bool(options.model) == bool(options.model_config_file):
        parser.error("name models, or a --model_config_file, and not both")
    try:
        server: Any = importlib.import_module("tapeflow.serving.server")
        if options.grpc_port is not None:
            importlib.import_module("grpc")
    except ModuleNotFoundError as error:
        print(f"tapeflow serve needs {error.name}: pip install tapeflow[serve]", file=sys.stderr)
        return 1
    try:
        sizes = (options.max_request_mb << 20, options.max_result_mb << 20)
        path = _read_metrics_path(options.monitoring_config_file, server.METRICS_PATH)
        cors = options.rest_api_enable_cors_support
        retries = LoadRetries(options.max_num_load_retries, options.load_retry_interval_micros / 1e6)
        batching = _read_batching(options)
        served = server.Server(_load_models(options, retries), batching, *sizes, path, cors, retries)
        if options.max_memory_mb is not None:
            _limit_memory(options.max_memory_mb << 20)
        files = (options.model_config_file, options.model_config_file_poll_wait_seconds)
        poll = options.file_system_poll_wait_seconds
        server.run(served, server.Endpoints(options.host, options.port, options.grpc_port, poll, *files))
    except (OSError, ValueError, errors.OpError) as error:
        print(f"tapeflow serve: {error}", file=sys.stderr)
        return 1
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tapeflow serve", description="Serves SavedModels by TensorFlow Serving's REST API and gRPC services.",
        epilog=_FLAGS, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    add = parser.add_argument
    add("model", nargs="*", help="NAME=PATH or PATH, of a SavedModel or of a folder of its versions")
    add("--model-config-file", metavar="FILE", help="a ModelServerConfig in text, in the place of MODEL")
    add(
        "--model-config-file-poll-wait-seconds", type=_read_seconds, default=0.0, metavar="SECONDS",
        help="how often to read the file again; 0, the default: never",
    )  # fmt: skip
    add("--host", default="127.0.0.1", help="the address to listen at")
    add("--port", type=_port_number, default=8501, help="the port of the REST API")
    add("--grpc-port", type=_port_number, help="the port of gRPC, such as 8500; by default none")
    add(
        "--rest-api-enable-cors-support", "--enable-cors-support", type=_read_switch, nargs="?", const=True,
        default=False, help="let programs of other sites call the REST API from browsers",
    )  # fmt: skip
    add("--max-batch-size", type=_positive_number, default=configs.JOINED.max_rows, help="the most rows of a call")
    add("--batch-timeout-ms", type=_read_seconds, default=1.0, help="how long a request waits for others")
    add("--threads", type=_positive_number, default=configs.JOINED.threads, help="how many calls run at a time")
    add("--enable-batching", type=_read_switch, nargs="?", const=True, default=True, help="by default true")
    add(
        "--batching-parameters-file", metavar="FILE",
        help="BatchingParameters in text, in the place of --max-batch-size, --batch-timeout-ms and --threads",
    )  # fmt: skip
    add("--monitoring-config-file", metavar="FILE", help="a MonitoringConfig in text: where Prometheus finds counts")
    add(
        "--file-system-poll-wait-seconds", type=_read_seconds, default=1.0, metavar="SECONDS",
        help="how often to look for new versions; 0: never",
    )  # fmt: skip
    add(
        "--max-num-load-retries", type=int, default=5, metavar="COUNT",
        help="how often to try again to load a version; one whose files change is always tried again",
    )  # fmt: skip
    add("--load-retry-interval-micros", type=int, default=60_000_000, metavar="TIME", help="the time between attempts")
    add("--max-request-mb", type=_positive_number, default=64, help="the largest body of a request")
    add("--max-result-mb", type=_positive_number, default=256, help="the largest result of a call")
    add("--max-memory-mb", type=_positive_number, help="the most memory of each process; no limit by default")
    return parser


def _load_models(options: argparse.Namespace, retries: LoadRetries) -> list[Servable]:
    if options.model_config_file:
        models = configs.list_models(configs.read_message(options.model_config_file, "ModelServerConfig"))
        if not models:
            raise ValueError(f"{options.model_config_file} lists no models.")
    else:
        models = [configs.ModelConfig(*_name_and_path(argument)) for argument in options.model]
    return [Servable(m.name, m.path, m.policy, m.labels, retries) for m in models]


def _read_batching(options: argparse.Namespace) -> configs.Batching:
    if not options.enable_batching:
        if options.batching_parameters_file:
            raise ValueError("--batching_parameters_file is set without setting --enable_batching to true.")
        return configs.Batching(1, 0.0, options.threads)
    if options.batching_parameters_file:
        file = options.batching_parameters_file
        try:
            return configs.batching_of(configs.read_message(file, "BatchingParameters"))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
    return configs.Batching(options.max_batch_size, options.batch_timeout_ms / 1000, options.threads)


def _read_metrics_path(file: str | None, default: str) -> str | None:
    return default if file is None else configs.metrics_path(configs.read_message(file, "MonitoringConfig"), default)


def _positive_number(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return int(text)


def _port_number(text: str) -> int:
    if not 0 <= int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 65535")
    return int(text)


def _read_seconds(text: str) -> float:
    if not 0 <= float(text) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no time of 0 or more")
    return float(text)


def _read_switch(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"{text} is neither true nor false")
    return text.lower() in ("true", "1")


def _limit_memory(size: int) -> None:
    """Sets the most bytes of memory that this process may have: larger allocations fail, and the calls with them.

    Raises:
        ValueError: the system has no such limits.
    """
    try:
        import resource
    except ImportError:
        raise ValueError("--max-memory-mb needs a system with resource limits, such as Linux.") from None
    resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _name_and_path(argument: str) -> tuple[str, str]:
    """Returns the name and the path of a model on the command line; by default the name is the folder's."""
    name, equals, path = argument.partition("=")
    return (name, path) if equals else (os.path.basename(os.path.abspath(argument)), argument)
