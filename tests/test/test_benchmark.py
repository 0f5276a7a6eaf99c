"""`tf.test.Benchmark`: names, reports, and the choice of benchmarks."""

import typing

import pytest

import tapeflow as tf
from tapeflow.core.protos import BenchmarkEntries


class NothingMeasured(tf.test.Benchmark):
    benchmark_size = 3  # not a function


class SumBenchmark(tf.test.Benchmark):
    ran: typing.ClassVar[list[str]] = []

    def benchmark_sum(self):
        self.ran.append("sum")
        self.report_benchmark(iters=3, cpu_time=0.25, wall_time=0.5, throughput=8.0)

    def benchmark_product(self):
        self.ran.append("product")

    def other(self):
        self.ran.append("other")


@pytest.fixture(name="prefix")
def reports_prefix(monkeypatch, tmp_path):
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}/report_")
    return f"{tmp_path}/report_"


@pytest.fixture(name="ran")
def empty_record():
    SumBenchmark.ran.clear()
    return SumBenchmark.ran


def read_report(path):
    with open(path, "rb") as file:
        [entry] = BenchmarkEntries.FromString(file.read()).entry
    return entry


def test_a_class_without_benchmarks_is_abstract():
    assert NothingMeasured.is_abstract() is True and SumBenchmark.is_abstract() is False


def test_a_report_has_the_name_of_the_running_benchmark(prefix):
    SumBenchmark().benchmark_sum()
    entry = read_report(f"{prefix}SumBenchmark.benchmark_sum")
    assert entry.name == "SumBenchmark.benchmark_sum"
    assert (entry.iters, entry.cpu_time, entry.wall_time, entry.throughput) == (3, 0.25, 0.5, 8.0)


def test_a_report_has_a_name_of_its_own(prefix):
    benchmark = SumBenchmark()
    metrics = [{"name": "loss", "value": 0.5, "min_value": 0.25}, {"name": "size", "value": 2.0, "max_value": 4.0}]
    benchmark.report_benchmark(name="a/b", extras={"kind": "fast", "rate": 3}, metrics=metrics)
    entry = read_report(f"{prefix}SumBenchmark.a__b")
    assert entry.name == "SumBenchmark.a/b" and (entry.iters, entry.wall_time) == (0, 0.0)
    assert entry.extras["kind"].string_value == "fast" and entry.extras["rate"].double_value == 3.0
    loss, size = entry.metrics
    assert (loss.name, loss.value, loss.min_value.value, loss.HasField("max_value")) == ("loss", 0.5, 0.25, False)
    assert (size.name, size.value, size.max_value.value, size.HasField("min_value")) == ("size", 2.0, 4.0, False)
    with pytest.raises(OSError, match=r"There is a report of SumBenchmark.a/b already"):
        benchmark.report_benchmark(name="a/b")


def test_a_report_outside_a_benchmark(prefix):
    SumBenchmark().report_benchmark(iters=1)
    assert read_report(f"{prefix}SumBenchmark._get_name").iters == 1


def test_no_file_without_a_prefix(monkeypatch, tmp_path):
    monkeypatch.delenv("TEST_REPORT_FILE_PREFIX", raising=False)
    monkeypatch.chdir(tmp_path)
    SumBenchmark().report_benchmark(iters=1)
    assert list(tmp_path.iterdir()) == []


def test_metrics_are_dicts():
    with pytest.raises(TypeError, match="a metric is a dict"):
        SumBenchmark().report_benchmark(metrics=[{"name": "a", "value": 1.0}, ("b", 2.0)])


def count_runs(**kwargs):
    """Returns the report, the number of runs, and the benchmark's graph values."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        runs = tf.compat.v1.Variable(0, use_resource=True)
        fed = tf.compat.v1.placeholder(tf.int32, [])
        session.run(runs.initializer)
        report = SumBenchmark().run_op_benchmark(session, runs.assign_add(fed), feed_dict={fed: 1}, **kwargs)
        return report, session.run(runs)


def test_an_op_runs_often(prefix):
    report, runs = count_runs()
    assert runs == 12 and report["iters"] == 10
    assert report["throughput"] is None and report["name"] == "SumBenchmark._get_name"
    report, runs = count_runs(burn_iters=1, min_iters=4, name="n", extras={"rate": 2.0}, mbs=3.0)
    assert runs == 5 and report["iters"] == 4 and report["name"] == "SumBenchmark.n"
    assert report["throughput"] == 3.0 / report["wall_time"] and report["wall_time"] > 0
    assert set(report["extras"]) == {"wall_time_mean", "wall_time_stdev", "rate"}
    assert report["extras"]["wall_time_mean"] > 0 and report["extras"]["wall_time_stdev"] >= 0
    entry = read_report(f"{prefix}SumBenchmark.n")
    assert (entry.iters, entry.wall_time, entry.throughput) == (4, report["wall_time"], report["throughput"])
    with pytest.raises(NotImplementedError, match="store_trace=False"):
        count_runs(store_trace=True)


def test_benchmarks_evaluate_tensors():
    assert SumBenchmark().evaluate({"a": tf.constant([1, 2])})["a"].tolist() == [1, 2]


def test_the_configuration_leaves_dependencies():
    options = tf.test.benchmark_config().graph_options.rewrite_options
    assert options.dependency_optimization == options.OFF


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("--benchmarks=SumBenchmark", ["product", "sum"]),
        ("-benchmarks=SumBenchmark.benchmark_p", ["product"]),
        ("--benchmarks=Sum.*_sum$", ["sum"]),
        ("--benchmarks=nothing_has_this_name", []),
    ],
)
def test_a_pattern_selects_benchmarks(ran, pattern, expected):
    tf.test.main(["program", "--x", pattern])
    assert ran == expected


def test_all_benchmarks_run(ran, monkeypatch):
    monkeypatch.setattr("sys.argv", ["program", "--benchmarks=all"])
    monkeypatch.setattr("tapeflow.test.benchmark._kinds", [NothingMeasured, SumBenchmark])
    tf.test.main()
    assert ran == ["product", "sum"]


def test_tests_run_without_a_pattern(ran):
    with pytest.raises(SystemExit):
        tf.test.main(["program", "--help"])
    assert ran == []
