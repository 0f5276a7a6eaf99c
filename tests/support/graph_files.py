"""Graphs in files: a `GraphDef`, and beside it what to feed, run and fetch, and what comes out."""

from __future__ import annotations

from typing import Any

import numpy as np


def encoded(value: Any) -> dict[str, Any]:
    """An array as JSON can hold it."""
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "SU":
        flat = [v.decode("utf-8", "surrogateescape") if isinstance(v, bytes) else str(v) for v in array.reshape(-1)]
        return {"dtype": "string", "shape": list(array.shape), "values": flat}
    flat = array.reshape(-1)
    if array.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    if flat.size > 1 and (flat == flat[0]).all():
        flat = flat[:1]  # of an array of equal elements, one
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "values": [float(f"{v:.9g}") if array.dtype.kind in "fc" else int(v) for v in flat],
    }


def decoded(entry: dict[str, Any]) -> Any:
    """The array of what `encoded` gave."""
    if entry["dtype"] == "string":
        return np.array([v.encode("utf-8", "surrogateescape") for v in entry["values"]], object).reshape(entry["shape"])
    values = np.array(entry["values"], np.float64 if "." in str(entry["values"]) or "float" in entry["dtype"] else None)
    if entry["dtype"].startswith("complex"):
        values = values.astype(np.float64).view(np.complex128)
    values = values.astype(entry["dtype"])
    return np.full(entry["shape"], values[0]) if values.size == 1 else values.reshape(entry["shape"])


def difference(expected: list[Any], given: list[Any]) -> str:
    """What differs, or an empty string."""
    if len(expected) != len(given):
        return f"{len(given)} values, not {len(expected)}"
    for i, (a, b) in enumerate(zip(expected, given, strict=True)):
        if (a["dtype"], a["shape"]) != (b["dtype"], b["shape"]):
            return f"value {i} is {b['dtype']}{b['shape']}, not {a['dtype']}{a['shape']}"
        if a["dtype"] == "string" or "int" in a["dtype"] or a["dtype"] == "bool":
            if a["values"] != b["values"]:
                return f"value {i} is {b['values']}, not {a['values']}"
        elif not np.allclose(decoded(a), decoded(b), rtol=2e-5, atol=2e-6):
            return f"value {i} is {b['values']}, not {a['values']}"
    return ""


def write(tf: Any, build: Any, path: Any) -> dict[str, Any]:
    """Builds a program, runs it, and writes its graph; gives what to run of it, and what it gave."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        built = build(tf)
        feeds = {t.name: v for t, v in built.feeds.items()}
        initializer = v1.global_variables_initializer().name
        entry = {
            "feeds": {name: encoded(value) for name, value in feeds.items()},
            "updates": [op.name for op in built.updates],
            "initializer": initializer,
            "fetches": [getattr(graph.as_graph_element(t), "name", None) for t in built.fetches],
        }
        path.write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
        entry["values"] = [encoded(v) for v in _run(v1, graph, entry, feeds)]
    return entry


def _run(v1: Any, graph: Any, entry: dict[str, Any], feeds: dict[str, Any]) -> list[Any]:
    with v1.Session(graph=graph) as session:
        session.run(entry["initializer"])
        for update in entry["updates"]:
            session.run(update, feeds)
        return session.run(entry["fetches"], feeds)


def read(tf: Any, path: Any) -> Any:
    """The `GraphDef` of a file."""
    return tf.compat.v1.GraphDef.FromString(path.read_bytes())


def run(tf: Any, graph_def: Any, entry: dict[str, Any]) -> list[Any]:
    """What a graph gives that was written."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        return _run(tf.compat.v1, graph, entry, {name: decoded(value) for name, value in entry["feeds"].items()})
