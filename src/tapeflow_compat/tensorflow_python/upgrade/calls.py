"""Calls that change in other ways than by names: each function edits one kind of `Call`, and reports what it did."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tapeflow_compat.tensorflow_python.upgrade.notes import ERROR, INFO, WARNING
from tapeflow_compat.tensorflow_python.upgrade.source import Call, dotted_name, literal

Report = Callable[[str, str], None]  # of a level and a text
Change = Callable[[Call, Report], None]


def _use_compat_v1(call: Call, report: Report, reason: str) -> None:
    call.function = str(call.name).replace("tf.", "tf.compat.v1.", 1)
    report(INFO, f"Renamed {call.name!r} to {call.function!r}: {reason}")


def _change_dropout(call: Call, report: Report) -> None:
    argument = call.find("keep_prob", 1)
    if argument is None:
        if call.find("rate") is None:
            report(ERROR, "tf.nn.dropout without a second argument, whose meaning has changed: edit by hand.")
        return
    if argument.name is None:
        for place, name in ((2, "noise_shape"), (3, "seed"), (4, "name")):
            later = call.find("", place)
            if later is not None:
                later.keyword = name
    call.set_keyword(argument, "rate")
    call.wrap(argument, "1 - (", ")")
    report(INFO, "Changed keep_prob of tf.nn.dropout to rate, with the value 1 - keep_prob.")


def _change_cast(call: Call, report: Report) -> None:
    short = str(call.name).rpartition("to_")[2]
    dtype = {"float": "float32", "double": "float64"}.get(short, short)
    argument = call.find("", 1)
    if argument is not None:
        call.set_keyword(argument, "name")
    call.append(f"dtype=tf.{dtype}")
    call.function = "tf.cast"
    report(INFO, f"Changed {call.name} to tf.cast(..., dtype=tf.{dtype}).")


def _stop_gradient_of_labels(call: Call, report: Report) -> None:
    argument = call.find("labels")
    if argument is None:
        return
    value = argument.value
    if not (isinstance(value, ast.Call) and dotted_name(value.func) == "tf.stop_gradient"):
        call.wrap(argument, "tf.stop_gradient(", ")")
        report(INFO, f"Changed labels of {call.name} to tf.stop_gradient(labels), as they were constant before.")


def _change_glimpse(call: Call, report: Report) -> None:
    argument = call.find("uniform_noise", 5)
    if argument is not None:
        if argument.name is not None:
            call.set_keyword(argument, "noise")
        call.wrap(argument, "'uniform' if (", ") else 'gaussian'")
        report(INFO, "Changed uniform_noise of tf.image.extract_glimpse to noise. Check the value.")


def _change_resize(call: Call, report: Report) -> None:
    method = str(call.name).rpartition("resize_")[2].upper()
    aligns, keeps = call.find("align_corners", 2), call.find("preserve_aspect_ratio", 3)
    if keeps is not None:
        call.set_keyword(keeps, "preserve_aspect_ratio")
    if aligns is not None:
        aligns.removed = True
    call.append(f"method=tf.image.ResizeMethod.{method}")
    call.function = "tf.image.resize"
    report(INFO, f"Changed {call.name} to tf.image.resize(..., method=tf.image.ResizeMethod.{method}).")


def _change_pool_seed(call: Call, report: Report) -> None:
    deterministic, second = call.find("deterministic"), call.find("seed2")
    for argument in (deterministic, second):
        if argument is not None:
            argument.removed = True
            report(INFO, f"Removed {argument.name} of {call.name}.")
    if deterministic is not None and not literal(deterministic.value, [False]):
        if call.find("seed") is None:
            call.append("seed=42")
            report(INFO, f"Added seed=42 to {call.name}, which was deterministic.")
        else:
            report(WARNING, f"{call.name} is deterministic only if its seed is not zero: check the seed.")


def _change_name_scope(call: Call, report: Report) -> None:
    name, default = call.find("name", 0), call.find("default_name", 1)
    if name is not None and not literal(name.value, [None]):
        _use_compat_v1(call, report, "with a name, it may enter an existing scope, which only compat.v1 can.")
    elif default is not None:
        for argument in call.arguments:
            argument.removed = argument is not default
        call.set_keyword(default, "name")
        report(INFO, "Used default_name of tf.name_scope as its name.")
    else:
        report(ERROR, "tf.name_scope without name and default_name: edit by hand.")


def _change_split(call: Call, report: Report) -> None:
    kind = call.find("result_type")
    if kind is not None:
        if not literal(kind.value, ["RaggedTensor", "SparseTensor"]):
            _use_compat_v1(call, report, "its result_type is not known before it runs.")
            return
        kind.removed = True
        report(INFO, f"Removed result_type of {call.name}.")
    source = call.find("source")
    if source is not None:
        call.set_keyword(source, "input")
    if kind is None or kind.value.value == "SparseTensor":
        call.source.put_after(call.source.end(call.node), ".to_sparse()")
        report(INFO, f"Added .to_sparse() to {call.name}, which returns a RaggedTensor now.")


def _without(name: str, values: tuple[bool, ...] | None, reason: str) -> Change:
    """Returns the change of calls with an argument that is gone: it is dropped for some values, else compat.v1's."""

    def change(call: Call, report: Report) -> None:
        argument = call.find(name)
        if argument is None:
            return
        if values is None:
            if not (isinstance(argument.value, ast.Constant) and isinstance(argument.value.value, str)):
                _use_compat_v1(call, report, reason)
        elif literal(argument.value, values):
            argument.removed = True
            report(INFO, f"Removed {name} of {call.name}.")
        else:
            _use_compat_v1(call, report, reason)

    return change


def _adding(text: str) -> Change:
    """Returns the change of calls that need one more argument."""

    def change(call: Call, report: Report) -> None:
        call.append(text)
        report(INFO, f"Added {text} to {call.name}.")

    return change


def _add_step(call: Call, report: Report) -> None:
    if call.find("step") is None:
        call.append("step=tf.compat.v1.train.get_or_create_global_step()")
        report(WARNING, f"Added the global step to {call.name}, which needs a step now.")


def _use_variance_scaling(call: Call, report: Report) -> None:
    call.function = "tf.compat.v1.keras.initializers.VarianceScaling"
    report(INFO, f"Changed {call.name} to {call.function}.")


def _change_unit_scaling(call: Call, report: Report) -> None:
    factor = call.find("factor")
    if factor is not None:
        call.set_keyword(factor, "scale")
    call.append('distribution="uniform"')
    _use_variance_scaling(call, report)


def _change_xavier(call: Call, report: Report) -> None:
    uniform = call.find("uniform", 0)
    for place, name in ((1, "seed"), (2, "dtype")):
        argument = call.find(name, place)
        if argument is not None:
            argument.keyword = name
    _choose_distribution(call, "uniform", 0, name=True)
    call.append("scale=1.0")
    call.append('mode="fan_avg"')
    if uniform is None:
        call.append('distribution="uniform"')
    _use_variance_scaling(call, report)


def _choose_distribution(call: Call, keyword: str, place: int, name: bool) -> None:
    argument = call.find(keyword, place)
    if argument is not None:
        if name or argument.name is not None:
            call.set_keyword(argument, "distribution")
        call.wrap(argument, '("uniform" if (', ') else "truncated_normal")')


def _change_contrib_variance_scaling(call: Call, report: Report) -> None:
    factor, mode = call.find("factor", 0), call.find("mode", 1)
    _choose_distribution(call, "uniform", 2, name=False)
    if mode is not None:
        call.wrap(mode, "(", ").lower()")
    if factor is None:
        call.append("scale=2.0")
    elif factor.name is not None:
        call.set_keyword(factor, "scale")
    _use_variance_scaling(call, report)


def _change_regularizer(call: Call, report: Report) -> None:
    kind = "l1" if str(call.name).endswith("l1_regularizer") else "l2"
    scale, scope = call.find("scale", 0), call.find("scope", 1)
    if scale is not None:
        if scale.name is not None:
            call.set_keyword(scale, "l")
        if kind == "l2":
            call.wrap(scale, "0.5 * (", ")")
    if scope is not None:
        scope.removed = True
    call.function = f"tf.keras.regularizers.{kind}"
    report(INFO, f"Changed {call.name} to {call.function}. It has no scope, and l2 is not halved there.")


_NO_OPTIMIZE = _without("optimize", (True,), "it has no optimize argument in TensorFlow 2.")
CHANGES: dict[str, Change] = {
    "tf.nn.dropout": _change_dropout,
    **dict.fromkeys(
        [f"tf.to_{t}" for t in ("bfloat16", "complex128", "complex64", "double", "float", "int32", "int64")],
        _change_cast,
    ),
    "tf.nn.softmax_cross_entropy_with_logits": _stop_gradient_of_labels,
    "tf.image.extract_glimpse": _change_glimpse,
    **dict.fromkeys(
        [f"tf.image.resize_{m}" for m in ("area", "bicubic", "bilinear", "nearest_neighbor")], _change_resize
    ),
    "tf.nn.fractional_avg_pool": _change_pool_seed,
    "tf.nn.fractional_max_pool": _change_pool_seed,
    "tf.name_scope": _change_name_scope,
    "tf.strings.split": _change_split,
    "tf.device": _without("device_name", None, "functions of devices are gone, and the argument may be one."),
    "tf.zeros_like": _NO_OPTIMIZE,
    "tf.ones_like": _NO_OPTIMIZE,
    "tf.while_loop": _without("return_same_structure", (True,), "TensorFlow 2 returns the same structure always."),
    "tf.nn.ctc_beam_search_decoder": _without("merge_repeated", (False,), "TensorFlow 2 merges no repeated classes."),
    "tf.nn.dilation2d": _adding('data_format="NHWC"'),
    "tf.nn.erosion2d": _adding('data_format="NHWC"'),
    "tf.keras.models.save_model": _adding('save_format="h5"'),
    "tf.contrib.summary.always_record_summaries": _adding("True"),
    "tf.contrib.summary.never_record_summaries": _adding("False"),
    **dict.fromkeys(
        [f"tf.contrib.summary.{k}" for k in ("audio", "generic", "histogram", "image", "scalar")], _add_step
    ),
    **{
        f"{home}.{name}": change
        for home in ("tf.contrib.layers", "slim")
        for name, change in {
            "l1_regularizer": _change_regularizer,
            "l2_regularizer": _change_regularizer,
            "xavier_initializer": _change_xavier,
            "xavier_initializer_conv2d": _change_xavier,
            "variance_scaling_initializer": _change_contrib_variance_scaling,
        }.items()
    },
    "tf.initializers.uniform_unit_scaling": _change_unit_scaling,
    "tf.uniform_unit_scaling_initializer": _change_unit_scaling,
}
