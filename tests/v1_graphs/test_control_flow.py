"""TensorFlow 1's conditionals and loops become functional ones, or stay as they stand: to the same results."""

import pathlib

import pytest
from google.protobuf import text_format

import tapeflow as tf
from tapeflow import v1_graphs
from tapeflow.graph.graphdef.import_graph import CONTROL_FLOW, Unstructured, nodes_with_handles
from tapeflow.graph.graphdef.node_protos import nodes_of_graph
from tapeflow.v1_graphs import functional

v1 = tf.compat.v1
GRAPH_DEFS = pathlib.Path(__file__).parents[1] / "fixtures" / "graph_defs"
ATTRS = {
    "Placeholder": 'attr { key: "dtype" value { type: DT_FLOAT } }',
    "Bool": 'attr { key: "dtype" value { type: DT_BOOL } }',
    "Const": 'attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT '
    "tensor_shape {} float_val: 5 } } }",
    "Enter": 'attr { key: "frame_name" value { s: "frame" } }',
    "EnterConstant": 'attr { key: "frame_name" value { s: "frame" } } attr { key: "is_constant" value { b: true } }',
    "Pivot": 'attr { key: "T" value { type: DT_BOOL } }',
}
NAMES = {"Bool": "Placeholder", "EnterConstant": "Enter", "Pivot": "Identity"}
UNTYPED = {"Placeholder", "Bool", "Const", "LoopCond", "NoOp", "Pivot"}
TYPE = ' attr { key: "T" value { type: DT_FLOAT } }'
COUNT = ' attr { key: "N" value { i: %d } }'


def graph_def(text):
    """The graph of lines such as `y: Add x one ^before`. A `Const` is 5."""
    nodes = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, op, *inputs = line.replace(":", "", 1).split()
        attrs = ATTRS.get(op, "") + ("" if op in UNTYPED else TYPE)
        if op in ("Merge", "AddN"):
            attrs += COUNT % len(inputs)
        nodes.append(
            f'node {{ name: "{name}" op: "{NAMES.get(op, op)}" {" ".join(f"input: {i!r}" for i in inputs)} {attrs} }}'
        )
    return text_format.Parse("\n".join(nodes), v1.GraphDef())


def run(proto, fetches, feeds):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(proto, name="")
        with v1.Session(graph=graph) as session:
            return session.run(fetches, feeds)


def structure(nodes):
    """How many inputs, control inputs, and nodes in functions, each rewritten construct has."""
    return [
        (n.op, len(n.inputs), n.controls, *(sorted(m.name for m in f.nodes) for f in n.functions.values()))
        for n in nodes
        if n.op in ("If", "While")
    ]


# ---- what is rewritten -----------------------------------------------------------------------------------------------

INPUTS = """
    x: Placeholder
    y: Placeholder
    p: Bool
    one: Const
"""
CONDITIONAL = INPUTS + """
    pivot: Pivot p
    s: Switch x pivot
    no: Neg s
    yes: Square s:1
    m: Merge no yes
    out: Identity m
"""  # fmt: skip
LOOP = """
    n: Placeholder
    x: Placeholder
    enter: Enter n
    enter_x: Enter x
    i: Merge enter next
    v: Merge enter_x next_x
    limit: Const
    less: Less i limit
    c: LoopCond less
    s: Switch i c
    s_x: Switch v c
    body: Identity s:1
    {body}
    next: NextIteration more
    next_x: NextIteration more_x
    exit: Exit s
    out: Exit s_x
"""
ONE = "one: Const ^body\n one1: Div one one\n more: Add body one1\n "
SQUARES = LOOP.format(body=ONE + "more_x: Square s_x:1")

CASES = {
    "a conditional": (CONDITIONAL, [("If", 2, [], ["yes"], ["no"])]),
    "true comes first": (CONDITIONAL.replace("no yes", "yes no"), [("If", 2, [], ["yes"], ["no"])]),
    "a branch that is a Switch": (
        CONDITIONAL.replace("no: Neg s", "").replace("Merge no", "Merge s"), [("If", 2, [], ["yes"], [])]),
    "the other branch is a Switch": (
        CONDITIONAL.replace("yes: Square s:1", "").replace("no yes", "no s:1"), [("If", 2, [], [], ["no"])]),
    "branches that read tensors of outside": (
        CONDITIONAL.replace("no: Neg s", "no: Sub s y").replace("yes: Square s:1", "yes: Mul one s:1"),
        [("If", 4, [], ["yes"], ["no"])],
    ),
    "a tensor of outside that is read twice": (
        CONDITIONAL.replace("no: Neg s", "no: Sub y s").replace("yes: Square s:1", "yes: Mul y s:1"),
        [("If", 3, [], ["yes"], ["no"])],
    ),
    "branches without inputs": (
        INPUTS + """
        s: Switch x p
        f: Identity s
        t: Identity s:1
        no: Const ^f
        yes: Square x ^t
        yes1: Neg yes
        m: Merge no yes1
        out: Identity m
        """,
        [("If", 2, [], ["t", "yes", "yes1"], ["f", "no"])],
    ),
    "a branch that runs after a node outside": (
        CONDITIONAL.replace("no: Neg s", "first: NoOp\n no: Neg s ^first"), [("If", 2, ["first"], ["yes"], ["no"])]),
    "both branches run after it": (
        CONDITIONAL.replace("no: Neg s", "first: NoOp\n no: Neg s ^first").replace("s:1", "s:1 ^first"),
        [("If", 2, ["first"], ["yes"], ["no"])],
    ),
    "nodes of a branch run after each other": (
        CONDITIONAL.replace("no: Neg s", "other: Square s\n no: Neg s ^other"),
        [("If", 2, [], ["yes"], ["no", "other"])],
    ),
    "two results of one conditional": (
        CONDITIONAL.replace("out: Identity m", """
        s1: Switch y p
        m1: Merge s1 yes
        out: Sub m m1
        """), [("If", 3, [], ["yes"], ["no"])]),
    "two conditionals of one condition in turn": (
        CONDITIONAL.replace("out: Identity m", """
        s1: Switch m p
        no1: Exp s1
        m1: Merge no1 s1:1
        out: Identity m1
        """), [("If", 2, [], ["yes"], ["no"]), ("If", 2, [], [], ["no1"])]),
    "a conditional in a conditional": (
        CONDITIONAL.replace("yes: Square s:1", """
        less: Less s:1 one
        q: Switch s:1 less
        a: Exp q
        b: Neg q:1
        yes: Merge a b
        """), [("If", 3, [], ["less", "yes", "yes/If"], ["no"])]),
    "a Switch that nothing reads but an identity": (
        CONDITIONAL + "unread: Switch y p\n ignored: Identity unread:1\n ignored1: Identity ignored",
        [("If", 2, [], ["yes"], ["no"])],
    ),
    "a loop": (SQUARES, [
        ("While", 3, [], ["less"], ["body", "more", "more_x", "one", "one1"])]),
    "a loop with a constant": (LOOP.format(body=ONE + "w: EnterConstant x\n more_x: Mul s_x:1 w"), [
        ("While", 4, [], ["less"], ["body", "more", "more_x", "one", "one1"])]),
    "a node in two conditionals": (
        CONDITIONAL.replace("out: Identity m", """
        s1: Switch m p
        a: Neg s1
        b: Add s1:1 yes
        out: Merge a b
        """), [("If", 2, [], ["yes"], ["no"]), ("If", 3, [], ["b", "yes"], ["a"])]),
    "a loop that reads a tensor of outside": (
        LOOP.format(body=ONE + "more_x: Mul s_x:1 x"), [
            ("While", 4, [], ["less"], ["body", "more", "more_x", "one", "one1"])]),
    "a loop that runs after a node": (
        SQUARES.replace("Enter n", "Enter n ^first") + "first: NoOp", [
            ("While", 3, ["first"], ["less"], ["body", "more", "more_x", "one", "one1"])]),
    "a variable that is not changed": (
        LOOP.format(body=ONE + "more_x: Identity s_x:1"), [
            ("While", 3, [], ["less"], ["body", "more", "more_x", "one", "one1"])]),
    "a conditional in a loop": (
        LOOP.format(body=ONE + """
        big: Less one body
        q: Switch s_x:1 big
        a: Neg q
        more_x: Merge a q:1
        """), [("While", 3, [], ["less"], ["big", "body", "more", "more_x", "more_x/If", "one", "one1"])]),
}  # fmt: skip


def refuse(nodes):
    raise Unstructured


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(name, monkeypatch):
    text, expected = CASES[name]
    proto = graph_def(text)
    nodes = functional(nodes_of_graph(proto))
    assert structure(nodes) == expected
    assert not {n.op for n in nodes} & CONTROL_FLOW
    feeds = [{"n:0": n, "x:0": 1.25} for n in (0.0, 3.0, 7.0)]
    if "pivot" in text or "p: Bool" in text:
        feeds = [{"x:0": x, "y:0": 3.0, "p:0": p} for x in (2.0, -7.0) for p in (False, True)]
    found = [run(proto, ["out:0"], feed) for feed in feeds]
    monkeypatch.setattr(v1_graphs, "functional", refuse)
    assert found == [run(proto, ["out:0"], feed) for feed in feeds]


# ---- what stays as it stands -----------------------------------------------------------------------------------------

OTHER = CONDITIONAL.replace("out: Identity m", "q: Bool\n s1: Switch y q\n")
REFUSED = {
    "three branches": CONDITIONAL.replace("no yes", "no yes s"),
    "one branch": CONDITIONAL.replace("no yes", "yes"),
    "no branches": INPUTS + "s: Switch x p\n m: Merge x y",
    "both branches for true": CONDITIONAL.replace("Neg s", "Neg s:1"),
    "both branches for false": CONDITIONAL.replace("s:1", "s"),
    "a branch for both": CONDITIONAL.replace("no: Neg s", "no: Add s s:1"),
    "another branch for both": CONDITIONAL.replace("yes: Square s:1", "yes: Add s s:1"),
    "a branch of two conditions": OTHER.replace("no: Neg s", "no: Add s s1"),
    "a condition for each branch": OTHER.replace("no: Neg s", "no: Neg s1"),
    "a reader of a branch": CONDITIONAL + "reader: Exp yes",
    "a reader of a Switch": CONDITIONAL + "reader: Exp s",
    "a node that runs after a branch": CONDITIONAL + "after: Exp y ^yes",
    "a reader of another Switch": CONDITIONAL + "s1: Switch y p\n reader: Exp s1",
    "a node that runs after an identity of another Switch": CONDITIONAL
    + "s1: Switch y p\n i: Identity s1\n a: NoOp ^i",
    "a reader of which branch ran": CONDITIONAL + "reader: Cast m:1",
    "a stateful node in two conditionals": CONDITIONAL.replace("Square s:1", "Print s:1 y")
    + "s1: Switch m p\n a: Neg s1\n b: Add s1:1 yes\n m1: Merge a b",
    "stacks": CONDITIONAL.replace("yes: Square s:1", "push: StackPushV2 s:1 s:1\n yes: Square push"),
    "a loop with two conditions": SQUARES.replace("s_x: Switch v c", "c1: LoopCond less\n s_x: Switch v c1"),
    "a loop without a condition": SQUARES.replace("c: LoopCond", "c: Pivot"),
    "a loop that nothing enters": SQUARES.replace("Merge enter next", "Merge next"),
    "a reader of a loop's value": SQUARES + "reader: Exp more_x",
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_forms_stay(name):
    with pytest.raises(Unstructured):
        functional(nodes_of_graph(graph_def(REFUSED[name])))


def test_graphs_without_control_flow_stay():
    nodes = nodes_of_graph(graph_def(INPUTS + "z: Add x y"))
    found = functional(nodes)
    assert found == nodes and found is not nodes


@pytest.mark.parametrize("path", sorted(GRAPH_DEFS.glob("*.v1.pb")), ids=lambda path: path.name)
def test_control_flow_of_tensorflow_is_rewritten(path):
    """The graphs run in `test_graph_def.py`; there, what is not rewritten would run, too."""
    proto = v1.GraphDef.FromString(path.read_bytes())
    nodes = nodes_with_handles(proto)
    assert {n.op for n in nodes} & CONTROL_FLOW
    if path.name == "conditional_assignment.v1.pb":  # a branch has a read that goes nowhere
        with pytest.raises(Unstructured):
            functional(v1_graphs.with_lists(nodes))
    else:
        assert not {n.op for n in functional(v1_graphs.with_lists(nodes))} & CONTROL_FLOW
