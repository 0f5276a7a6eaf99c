"""Warm starts: variables begin with the values of a checkpoint, under a new vocabulary if it has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import zeros
from tapeflow.array.gathers import gather
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike
from tapeflow.core.values.variable import Variable
from tapeflow.io.gfile import GFile
from tapeflow.train.object_graph import keys_by_full_name
from tapeflow.train.reader import OBJECT_GRAPH, load_checkpoint
from tapeflow_compat.compat.v1.partitioned import PartitionInfo, pieces_of
from tapeflow_compat.compat.v1.train.saver import init_from_checkpoint, initialize_with, variables_by_name
from tapeflow_compat.compat.v1.variables import GraphKeys, get_collection


class _VocabInfo(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


class VocabInfo(_VocabInfo):
    """The vocabularies before and after a warm start, for `tf.compat.v1.train.warm_start`.

    Args:
        new_vocab: the file of the new vocabulary, one entry a line.
        new_vocab_size: the number of its entries that are used.
        num_oov_buckets: an int, the number of the variable's entries after the vocabulary.
        old_vocab: the file of the vocabulary of the checkpoint.
        old_vocab_size: the number of its entries that were used; -1 for all.
        backup_initializer: gives the values of new entries; zeros by default.
        axis: the dimension of the variable that the vocabulary is for, 0 or 1.

    Raises:
        ValueError: `axis` is neither 0 nor 1.

    Example:
        >>> tf.compat.v1.train.VocabInfo("new.txt", 3, 1, "old.txt").axis
        0
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> VocabInfo:
        info = super().__new__(cls, *args, **kwargs)
        if info.axis not in (0, 1):
            raise ValueError(
                f"The only supported values for the axis argument are 0 and 1.  Provided axis: {info.axis}"
            )
        return info


def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Makes the initializers of a graph's variables return the values of a checkpoint.

    Args:
        ckpt_to_initialize_from: the checkpoint's name, or a directory, whose latest checkpoint is used.
        vars_to_warm_start: a regular expression that names of trainable variables begin with; a list of expressions
            for all variables; a list of variables; None for the trainable variables in `var_name_to_vocab_info`.
        var_name_to_vocab_info: a map from names of variables to their vocabularies.
        var_name_to_prev_var_name: a map from names of variables to their names in the checkpoint, if these differ.

    Raises:
        ValueError: the checkpoint lacks a variable or has it with another shape, a map has a name that is not used,
            or `vars_to_warm_start` is something else.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.compat.v1.get_variable("v", initializer=5.0)
        ...     sess.run(v.initializer)
        ...     saved = tf.compat.v1.train.Saver().save(sess, path)
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.compat.v1.get_variable("v", initializer=0.0)
        ...     tf.compat.v1.train.warm_start(path)
        ...     sess.run(v.initializer)
        ...     print(sess.run(v))
        5.0
    """
    variables = variables_by_name(_wanted(vars_to_warm_start))
    vocabularies = var_name_to_vocab_info or {}
    previous = var_name_to_prev_var_name or _names_of_objects(ckpt_to_initialize_from, variables)
    for name, variable in variables.items():
        source = previous.get(name) or name
        if name in vocabularies:
            _initialize_by_vocabulary(variable, load_checkpoint(ckpt_to_initialize_from), source, vocabularies[name])
        elif vars_to_warm_start:
            init_from_checkpoint(ckpt_to_initialize_from, {source: variable})
    given = {"var_name_to_prev_var_name": previous, "var_name_to_vocab_info": vocabularies}
    for argument, names in given.items():
        if names.keys() - variables.keys():
            raise ValueError(
                f"You provided the following variables in {argument} that were not used: "
                f"{names.keys() - variables.keys()}.  Perhaps you misspelled them?  Here is the list of viable "
                f"variable names: {list(variables)}"
            )


def _wanted(variables: Any) -> list[Any]:
    """Returns the variables that `vars_to_warm_start` selects."""
    if variables is None or isinstance(variables, str):
        return get_collection(GraphKeys.TRAINABLE_VARIABLES, variables)
    if not isinstance(variables, list):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(variables)}")
    if all(isinstance(v, str) for v in variables):
        return [v for scope in variables for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope)]
    if not all(isinstance(piece, Variable) for v in variables for piece in pieces_of(v)):
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
            f"{[type(v) for v in variables]}"
        )
    return variables


def _names_of_objects(checkpoint: Any, variables: Mapping[str, Any]) -> dict[str, str]:
    """Returns the keys of variables in a checkpoint of objects; none if the checkpoint is a graph's.

    Raises:
        ValueError: it lacks a variable.
    """
    reader = load_checkpoint(checkpoint)
    if not reader.has_tensor(OBJECT_GRAPH):
        return {}
    keys = keys_by_full_name(reader.bundle)
    missing = variables.keys() - keys.keys()
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that the checkpoint did not contain "
            f"values for all variables. The following variables were missing: {missing}"
        )
    return {name: keys[name] for name in variables}


def _initialize_by_vocabulary(variable: Variable, reader: Any, source: str, info: VocabInfo) -> None:
    """Lets a variable begin with the values that its entries had in a checkpoint under an old vocabulary."""
    old = {entry: i for i, entry in enumerate(_entries(info.old_vocab, info.old_vocab_size))}
    new = _entries(info.new_vocab, info.new_vocab_size)
    value, axis = convert(reader.get_tensor(source), variable.dtype), info.axis
    for piece in pieces_of(variable):
        place = getattr(piece, "_save_slice_info", None)
        offsets = list(place.var_offset) if place else [0] * len(piece.shape)
        shape = piece.shape.as_list()
        backup = _backup(info.backup_initializer, shape, piece.dtype, place)
        entries = range(offsets[axis], offsets[axis] + shape[axis])
        rows = [old.get(new[i]) if i < len(new) else None for i in entries]
        own = value
        for i, (offset, size) in enumerate(zip(offsets, shape, strict=True)):
            if i != axis and place:
                own = gather(own, list(range(offset, offset + size)), axis=i)
        count = own.shape[axis]
        places = [count + i if row is None else row for i, row in enumerate(rows)]
        initialize_with(piece, gather(concat([own, backup], axis), places, axis=axis))


def _backup(initializer: Callable[..., Any], shape: list[int], dtype: DTypeLike, place: Any) -> Any:
    if initializer is None:
        return zeros(shape, dtype)
    whole = PartitionInfo(place.full_shape, place.var_offset) if place else None
    return initializer(shape, dtype=dtype, partition_info=whole)


def _entries(path: str, size: int) -> list[str]:
    """Returns the first entries of a vocabulary's file; all of them for a negative size."""
    with GFile(path) as file:
        entries = file.read().splitlines()
    return entries if size < 0 else entries[:size]
