"""Reports of profiles by scope and by kind of op, as TensorFlow 2.21 prints them for the same graph."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1
BUILDER = v1.profiler.ProfileOptionBuilder
VARIABLES, OPERATIONS = BUILDER.trainable_variables_parameter(), BUILDER.float_operation()
ROWS = [
    (
        "depth 2",
        "scope",
        BUILDER(VARIABLES).with_max_depth(2),
        """\
node name | # parameters
_TFProfRoot (--/0 params)
  a (--/0 params)
""",
    ),
    (
        "depth 3",
        "scope",
        BUILDER(VARIABLES).with_max_depth(3),
        """\
node name | # parameters
_TFProfRoot (--/1.50k params)
  a (--/1.50k params)
    a/b (--/0 params)
    a/w (3x500, 1.50k/1.50k params)
""",
    ),
    (
        "depth 2, all counted",
        "scope",
        BUILDER(VARIABLES).with_max_depth(2).account_displayed_op_only(False),
        """\
node name | # parameters
_TFProfRoot (--/5.01k params)
  a (--/5.01k params)
""",
    ),
    (
        "1500 parameters",
        "scope",
        BUILDER(VARIABLES).with_min_parameters(1500),
        """\
node name | # parameters
_TFProfRoot (--/5.00k params)
  a/b/u (500x7, 3.50k/3.50k params)
  a/w (3x500, 1.50k/1.50k params)
""",
    ),
    (
        "1501 parameters",
        "scope",
        BUILDER(VARIABLES).with_min_parameters(1501),
        """\
node name | # parameters
_TFProfRoot (--/3.50k params)
  a/b/u (500x7, 3.50k/3.50k params)
""",
    ),
    (
        "12000 operations",
        "scope",
        BUILDER(OPERATIONS).with_min_float_operations(12000),
        """\
node name | # float_ops
_TFProfRoot (--/40.00k flops)
  a/b/mm (28.00k/28.00k flops)
  a/mm (12.00k/12.00k flops)
""",
    ),
    (
        "12001 operations",
        "scope",
        BUILDER(OPERATIONS).with_min_float_operations(12001),
        """\
node name | # float_ops
_TFProfRoot (--/28.00k flops)
  a/b/mm (28.00k/28.00k flops)
""",
    ),
    (
        "start",
        "scope",
        BUILDER(VARIABLES).with_node_names(start_name_regexes=["a/b.*"]),
        """\
node name | # parameters
_TFProfRoot (--/3.51k params)
  a/b (--/3.51k params)
    a/b/bias (7, 7/7 params)
    a/b/u (500x7, 3.50k/3.50k params)
""",
    ),
    (
        "trim",
        "scope",
        BUILDER(VARIABLES).with_node_names(trim_name_regexes=["a/b"]),
        """\
node name | # parameters
_TFProfRoot (--/1.50k params)
  a (--/1.50k params)
    a/b (--/0 params)
    a/w (3x500, 1.50k/1.50k params)
""",
    ),
    (
        "hide",
        "scope",
        BUILDER(VARIABLES).with_node_names(hide_name_regexes=["a/b"]),
        """\
node name | # parameters
_TFProfRoot (--/5.01k params)
  a (--/5.01k params)
    a/b/bias (7, 7/7 params)
    a/b/u (500x7, 3.50k/3.50k params)
    a/w (3x500, 1.50k/1.50k params)
""",
    ),
    (
        "show",
        "scope",
        BUILDER(VARIABLES).with_node_names(show_name_regexes=["a/b.*"]),
        """\
node name | # parameters
_TFProfRoot (--/3.51k params)
  a/b (--/3.51k params)
    a/b/bias (7, 7/7 params)
    a/b/u (500x7, 3.50k/3.50k params)
""",
    ),
    (
        "order by parameters",
        "scope",
        BUILDER(VARIABLES).order_by("params"),
        """\
node name | # parameters
_TFProfRoot (--/5.01k params)
  a (--/5.01k params)
    a/b (--/3.51k params)
      a/b/u (500x7, 3.50k/3.50k params)
      a/b/bias (7, 7/7 params)
    a/w (3x500, 1.50k/1.50k params)
""",
    ),
    (
        "every column",
        "scope",
        BUILDER(OPERATIONS).select(["float_ops", "op_types", "occurrence"]).order_by("name"),
        """\
node name | # float_ops | op types | op count (run|defined)
_TFProfRoot (--/40.06k flops, _kTFScopeParent, --/0|--/5)
  a/b/mm (28.00k/28.00k flops, MatMul, 0/0|1/1)
  a/mm (12.00k/12.00k flops, MatMul, 0/0|1/1)
  out/square (28/28 flops, Square, 0/0|1/1)
  out/sum (28/28 flops, AddV2, 0/0|1/1)
""",
    ),
    (
        "kinds by occurrence",
        "op",
        BUILDER(OPERATIONS)
        .select(["float_ops", "occurrence"])
        .order_by("occurrence")
        .with_accounted_types(["MatMul", "AddV2", "Relu", "Square", "Placeholder"]),
        """\
node name | # float_ops | op occurrence (run|defined)
MatMul                   40.00k float_ops (100.00%, 99.86%),        0|2
AddV2                       28 float_ops (0.14%, 0.07%),        0|1
Placeholder                  0 float_ops (0.07%, 0.00%),        0|1
Relu                         0 float_ops (0.07%, 0.00%),        0|1
Square                      28 float_ops (0.07%, 0.07%),        0|1
""",
    ),
    (
        "kinds of two nodes",
        "op",
        BUILDER(OPERATIONS).select(["float_ops", "occurrence"]).with_min_occurrence(2),
        """\
node name | # float_ops | op occurrence (run|defined)
MatMul                   40.00k float_ops (100.00%, 100.00%),        0|2
""",
    ),
    (
        "kinds of three nodes",
        "op",
        BUILDER(OPERATIONS).with_min_occurrence(3),
        """\
node name | # float_ops
""",
    ),
    (
        "parameters of kinds",
        "op",
        BUILDER(VARIABLES).order_by("params").select(["params", "occurrence"]),
        """\
node name | # parameters | op occurrence (run|defined)
VarHandleOp              5.01k params (100.00%, 100.00%),        0|3
""",
    ),
    (
        "scopes, all counted",
        "scope",
        BUILDER(OPERATIONS)
        .with_min_float_operations(0)
        .account_displayed_op_only(False)
        .with_node_names(show_name_regexes=["a.*"], trim_name_regexes=["a/.*"]),
        """\
node name | # float_ops
_TFProfRoot (--/40.06k flops)
  a (0/40.00k flops)
    a/b (0/28.00k flops)
    a/mm (12.00k/12.00k flops)
    a/relu (0/0 flops)
    a/w (0/0 flops)
""",
    ),
    (
        "scopes",
        "scope",
        BUILDER(OPERATIONS)
        .with_min_float_operations(0)
        .with_node_names(show_name_regexes=["a.*"], trim_name_regexes=["a/.*"]),
        """\
node name | # float_ops
_TFProfRoot (--/12.00k flops)
  a (0/12.00k flops)
    a/mm (12.00k/12.00k flops)
    a/b (0/0 flops)
    a/relu (0/0 flops)
    a/w (0/0 flops)
""",
    ),
    (
        "scopes of one kind",
        "scope",
        BUILDER(OPERATIONS)
        .with_min_float_operations(0)
        .with_accounted_types(["MatMul"])
        .account_displayed_op_only(False),
        """\
node name | # float_ops
_TFProfRoot (--/40.00k flops)
  a (--/40.00k flops)
    a/b (--/28.00k flops)
      a/b/mm (28.00k/28.00k flops)
    a/mm (12.00k/12.00k flops)
""",
    ),
    (
        "both columns",
        "op",
        BUILDER(OPERATIONS)
        .select(["params", "float_ops"])
        .order_by("name")
        .with_accounted_types(["MatMul", "AddV2", "Placeholder", "Square", "VarHandleOp"]),
        """\
node name | # parameters | # float_ops
AddV2                         0 params (100.00%, 0.00%),  28 float_ops (100.00%, 0.07%)
MatMul                        0 params (100.00%, 0.00%), 40.00k float_ops (99.93%, 99.86%)
Placeholder                12 params (100.00%, 100.00%),     0 float_ops (0.07%, 0.00%)
Square                          0 params (0.00%, 0.00%),    28 float_ops (0.07%, 0.07%)
""",
    ),
    (
        "both by parameters",
        "op",
        BUILDER(OPERATIONS).select(["params", "float_ops"]).with_min_parameters(20).order_by("params"),
        """\
node name | # parameters | # float_ops
VarHandleOp              5.01k params (100.00%, 100.00%),     0 float_ops (0.00%, 0.00%)
""",
    ),
    (
        "some kinds",
        "op",
        BUILDER(OPERATIONS).with_accounted_types(["MatMul", "Relu"]).order_by("name"),
        """\
node name | # float_ops
MatMul                   40.00k float_ops (100.00%, 100.00%)
""",
    ),
]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [4, 3], name="x")
        zeros = v1.zeros_initializer()
        with v1.variable_scope("a", initializer=zeros):
            w = v1.get_variable("w", [3, 500])
            with v1.variable_scope("b"):
                u, b = v1.get_variable("u", [500, 7]), v1.get_variable("bias", [7])
        h = tf.nn.relu(tf.matmul(x, w, name="a/mm"), name="a/relu")
        y = tf.add(tf.matmul(h, u, name="a/b/mm"), b, name="out/sum")
        tf.square(y, name="out/square")
    return graph


@pytest.mark.parametrize(("name", "command", "builder", "report"), ROWS, ids=[row[0] for row in ROWS])
def test_reports(graph, tmp_path, name, command, builder, report):
    path = tmp_path / "report.txt"
    options = BUILDER(builder.build()).with_file_output(str(path)).build()
    with graph.as_default():
        v1.profiler.profile(graph, cmd=command, options=options)
    assert path.read_text().partition("Profile:\n")[2].partition("\n\n==")[0] == report.rstrip("\n")


def test_sums_of_scopes(graph):
    profile = v1.profiler.profile(graph, options=BUILDER(VARIABLES).with_empty_output().build())
    assert (profile.name, profile.parameters, profile.total_parameters) == ("_TFProfRoot", 0, 5007)
    (a,) = profile.children
    assert [(n.name, n.parameters, n.total_parameters) for n in a.children] == [("a/b", 0, 3507), ("a/w", 1500, 1500)]
    assert [n.name for n in a.children[0].children] == ["a/b/bias", "a/b/u"]
    options = BUILDER(OPERATIONS).with_empty_output().build()
    assert v1.profiler.profile(graph, options=options).total_float_ops == 40056


def test_sums_of_kinds(graph):
    options = BUILDER(OPERATIONS).with_empty_output().build()
    profile = v1.profiler.profile(graph, cmd="op", options=options)
    kinds = []
    while profile.children:
        (profile,) = profile.children
        kinds.append((profile.name, profile.float_ops, profile.total_float_ops, [n.name for n in profile.graph_nodes]))
    assert kinds == [
        ("MatMul", 40000, 40056, ["a/b/mm", "a/mm"]),
        ("AddV2", 28, 56, ["out/sum"]),
        ("Square", 28, 28, ["out/square"]),
    ]


def test_where_reports_go(graph, capsys):
    v1.profiler.profile(graph, options=BUILDER(VARIABLES).with_empty_output().build())
    assert capsys.readouterr().out == ""
    v1.profiler.profile(graph, options=BUILDER(VARIABLES).with_stdout_output().build())
    assert "_TFProfRoot (--/5.01k params)" in capsys.readouterr().out


def test_options_of_builders():
    built = (
        BUILDER()
        .with_max_depth(3)
        .with_min_parameters(4)
        .with_min_float_operations(5)
        .with_min_occurrence(6)
        .with_min_execution_time(7, 8, 9)
        .with_min_memory(10, 11, 12, 13)
        .with_accounted_types(["t"])
        .with_node_names(["a"], ["b"], ["c"], ["d"])
        .account_displayed_op_only(True)
        .order_by("params")
        .select(["float_ops"])
        .with_step(14)
        .with_empty_output()
        .build()
    )
    assert {key: value for key, value in built.items() if key not in ("output",)} == {
        "max_depth": 3, "min_bytes": 10, "min_peak_bytes": 11, "min_residual_bytes": 12, "min_output_bytes": 13,
        "min_micros": 7, "min_accelerator_micros": 8, "min_cpu_micros": 9, "min_params": 4, "min_float_ops": 5,
        "min_occurrence": 6, "order_by": "params", "account_type_regexes": ["t"], "start_name_regexes": ["a"],
        "trim_name_regexes": ["d"], "show_name_regexes": ["b"], "hide_name_regexes": ["c"],
        "account_displayed_op_only": True, "select": ["float_ops"], "step": 14,
    }  # fmt: skip
    assert built["output"] == "none"


def test_builders_copy_their_options():
    names = ["a"]
    options = BUILDER.float_operation()
    builder = BUILDER(options).with_accounted_types(names)
    names.append("b")
    first = builder.build()
    first["select"].append("params")
    assert builder.build()["account_type_regexes"] == ["a"]
    assert builder.build()["select"] == ["float_ops"]
    assert options["account_type_regexes"] == [".*"]


def test_options_by_default():
    plain = BUILDER().build()
    assert (plain["max_depth"], plain["account_displayed_op_only"], plain["step"]) == (100, False, -1)
    assert (plain["order_by"], plain["select"], plain["output"]) == ("name", ["micros"], "stdout")
    assert plain["account_type_regexes"] == [".*"] == plain["start_name_regexes"] == plain["show_name_regexes"]
    assert plain["trim_name_regexes"] == [] == plain["hide_name_regexes"]
    assert [plain[f"min_{name}"] for name in ("bytes", "micros", "params", "float_ops", "occurrence")] == [0] * 5
    variables = BUILDER.trainable_variables_parameter()
    assert (variables["max_depth"], variables["account_displayed_op_only"]) == (10000, True)
    assert (variables["select"], variables["order_by"]) == (["params"], "name")
    assert variables["account_type_regexes"] == ["_trainable_variables"]
    operations = BUILDER.float_operation()
    assert (operations["min_float_ops"], operations["order_by"]) == (1, "float_ops")
    assert (operations["select"], operations["account_displayed_op_only"]) == (["float_ops"], True)
    times = BUILDER.time_and_memory(2, 3)
    assert (times["min_micros"], times["min_bytes"], times["order_by"]) == (2, 3, "micros")
    assert times["select"] == ["micros", "bytes"]


@pytest.mark.parametrize("command", ["graph", "code"])
def test_commands_of_other_profiles(graph, command):
    with pytest.raises(tf.errors.UnimplementedError, match="profiles by 'scope' and 'op', not by"):
        v1.profiler.profile(graph, cmd=command, options=BUILDER(VARIABLES).with_empty_output().build())


def test_another_output(graph):
    options = {**VARIABLES, "output": "timeline:outfile=x"}
    with pytest.raises(tf.errors.InvalidArgumentError, match="output is 'stdout', 'none' or 'file:outfile=PATH'"):
        v1.profiler.profile(graph, options=options)
