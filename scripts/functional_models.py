#!/usr/bin/env python3
"""Builds models of Keras 2 from calls of public functions, and writes what they are as JSON.

It runs with TensorFlow, and with TapeFlow as `python -m tapeflow scripts/functional_models.py FILE`; tf_keras must be
installed. With `--compare ONE OTHER` it compares two such files and prints what differs.

For each expression of `tests/support/symbolic_calls.py` it writes the classes and names of the layers, the specs of the
outputs, the model's predictions, whether configurations make equal models, and whether saved models do.
"""

import argparse
import base64
import io
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
from symbolic_calls import CALLS, INPUTS


def example(shape, dtype, random):
    shape = (2, *shape)
    if dtype == "string":
        return np.array([random.choice(["ab", "c", "a d"]) for _ in range(int(np.prod(shape)))], object).reshape(shape)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype.startswith(("int", "uint")):
        return random.integers(0, 4, shape).astype(dtype)
    values = random.random(shape)
    return (values + 1j * random.random(shape) if dtype == "complex64" else values).astype(dtype)


def used(expression):
    code = compile(expression, "", "eval")
    names = set(code.co_names)
    for constant in code.co_consts:
        names |= set(getattr(constant, "co_names", ()))
    return [name for name in INPUTS if name in names]


def written(tf, values):
    """Returns the results as specs and arrays."""
    specs, arrays = [], []
    for value in tf.nest.flatten(values, expand_composites=True):
        value = np.asarray(value)
        specs.append([list(value.shape), str(value.dtype)])
        if value.dtype == object:
            arrays.append([x.decode("latin1") if isinstance(x, bytes) else str(x) for x in value.reshape(-1).tolist()])
        else:
            file = io.BytesIO()
            np.save(file, value)
            arrays.append(base64.b64encode(file.getvalue()).decode())
    return specs, arrays


def model_of(tf, keras, expression, saving):
    random = np.random.default_rng(7)
    values = {name: example(*INPUTS[name], random) for name in INPUTS}
    keras.backend.clear_session()
    names = used(expression)
    inputs = {name: keras.Input(INPUTS[name][0], dtype=INPUTS[name][1], name=name) for name in names}
    outputs = eval(expression, {"tf": tf, **inputs})
    model = keras.Model(list(inputs.values()), outputs)
    known = set(names)
    result = {
        "layers": [[type(layer).__name__, layer.name] for layer in model.layers if layer.name not in known],
        "specs": [
            str(getattr(o, "type_spec", o)).replace(", name=None", "").split(", name=")[0].rstrip(")")
            for o in tf.nest.flatten(outputs)
        ],
    }
    feed = [tf.constant(values[name]) for name in names]

    def attempt(key, action):
        try:
            result[key] = action()
        except Exception as e:
            result[key] = f"{type(e).__name__}: {str(e)[:150]}"

    def same(other):
        one, two = (tf.nest.flatten(m(feed), expand_composites=True) for m in (model, other))
        return all(
            np.array_equal(np.asarray(a), np.asarray(b)) or "nan" in str(a) for a, b in zip(one, two, strict=True)
        )

    def predictions():
        result["shapes"], arrays = written(tf, model(feed))
        return arrays

    def configured():
        config = model.get_config()
        again = keras.Model.from_config(config)
        return same(again) and json.dumps(again.get_config(), default=repr) == json.dumps(config, default=repr)

    def saved(suffix):
        with tempfile.TemporaryDirectory() as folder:
            model.save(f"{folder}/model{suffix}")
            return same(keras.models.load_model(f"{folder}/model{suffix}"))

    attempt("predictions", predictions)
    attempt("config", lambda: json.dumps(model.get_config(), default=repr))
    attempt("from_config", configured)
    if saving:
        attempt("h5", lambda: saved(".h5"))
        attempt("keras", lambda: saved(".keras"))
        attempt("saved_model", lambda: saved(""))
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--compare", nargs=2)
    parser.add_argument("--saving", action="store_true", help="saves and loads each model, too")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.compare:
        compare(*options.compare)
        return
    import tensorflow as tf
    import tf_keras as keras

    results = {}
    for expression in CALLS:
        if options.only in expression:
            try:
                results[expression] = model_of(tf, keras, expression, options.saving)
            except Exception as e:
                results[expression] = {"error": f"{type(e).__name__}: {str(e)[:200]}"}
    pathlib.Path(options.file).write_text(json.dumps(results, indent=1))


def array(text):
    return np.load(io.BytesIO(base64.b64decode(text))) if isinstance(text, str) else np.array(text)


def close(one, other):
    if isinstance(one, str) or isinstance(other, str) or len(one) != len(other):
        return one == other
    for a, b in zip(map(array, one), map(array, other), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        same = np.array_equal(a, b) if a.dtype.kind in "biuUSO" else np.allclose(a, b, 1e-4, 1e-5, equal_nan=True)
        if not same:
            return False
    return True


def compare(one, other):
    ours, theirs = (json.loads(pathlib.Path(path).read_text()) for path in (one, other))
    different = 0
    for expression in theirs:
        a, b = ours.get(expression, {}), theirs[expression]
        if "error" in b:
            if "error" not in a:
                print(f"{expression}\n    {a.get('layers')}\n    {b['error']}")
            continue
        if "error" in a:
            print(f"{expression}\n    {a['error']}\n    {b['layers']}")
            different += 1
            continue
        keys = [k for k in b if (not close(a[k], b[k]) if k == "predictions" else a.get(k) != b[k])]
        different += bool(keys)
        if keys:
            print(expression)
        for key in keys:
            if key == "predictions":
                print("    predictions", a.get("shapes"), b.get("shapes"), a[key] if isinstance(a[key], str) else "")
            else:
                print(f"    {key}\n      {a.get(key)}\n      {b[key]}")
    print(f"{different} of {len(theirs)} differ")


if __name__ == "__main__":
    main()
