"""The messages of `protos.proto`, and their compiled form."""

import pytest
from google.protobuf.descriptor import FieldDescriptor

from recording.protos import PROTOS, SRC
from tapeflow.core import protos

SOURCE = (SRC / f"{PROTOS}.proto").read_text()
KINDS = {
    getattr(FieldDescriptor, f"TYPE_{kind.upper()}"): kind
    for kind in ("bool", "bytes", "double", "fixed32", "float", "int32", "int64", "string", "uint32", "uint64")
}


def kind_of(field):
    return KINDS.get(field.type) or field.message_type.name


def declaration(field):
    """The line of a field in a `.proto` file."""
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        entry = field.message_type.fields_by_name
        return f"map<{kind_of(entry['key'])}, {kind_of(entry['value'])}> {field.name} = {field.number};"
    return f"{'repeated ' * field.is_repeated}{kind_of(field)} {field.name} = {field.number};"


def declarations(message):
    """The lines of a message in a `.proto` file, without their order and indentation."""
    lines = [f"message {message.name} {{", *map(declaration, message.fields)]
    lines += [f"oneof {oneof.name} {{" for oneof in message.oneofs]
    for nested in message.nested_types:
        lines += [] if nested.GetOptions().map_entry else declarations(nested)
    return lines


def test_compiled_messages_are_current():
    """A change of the source without `scripts/record.py protos` shows here."""
    written = SOURCE.partition("package tensorflow;")[2].replace("{}", "{\n}").replace("{ ", "{\n").replace(" }", "\n}")
    lines = [line.strip() for line in written.splitlines()]
    file = protos.pool.FindFileByName(f"{PROTOS}.proto")
    compiled = [line for message in file.message_types_by_name.values() for line in declarations(message)]
    assert sorted(compiled) == sorted(line for line in lines if line and line != "}" and not line.startswith("//"))


def test_bytes_of_a_message():
    """Field numbers and oneofs are TensorFlow's."""
    example = protos.Example()
    example.features.feature["a"].int64_list.value[:] = [1, 300]
    assert example.SerializeToString().hex() == "0a0e0a0c0a016112071a050a0301ac02"
    assert protos.message_class("Example") is protos.Example


def test_an_unknown_message():
    with pytest.raises(AttributeError, match="'NoSuchMessage'"):
        _ = protos.NoSuchMessage
