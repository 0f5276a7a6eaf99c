"""Names of classes of specs."""

import pytest

import tapeflow as tf
from tapeflow.core.types import spec_registry


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """A registry without any names."""
    monkeypatch.setattr(spec_registry, "_NAME_TO_TYPE_SPEC", {})
    monkeypatch.setattr(spec_registry, "_TYPE_SPEC_TO_NAME", {})


class FirstSpec(tf.TensorSpec):
    """A class of specs."""


class SecondSpec(tf.TensorSpec):
    """Another one."""


def test_names_and_classes():
    assert spec_registry.register("project.First")(FirstSpec) is FirstSpec
    spec_registry.register("project.part.Second_2")(SecondSpec)
    assert spec_registry.lookup("project.First") is FirstSpec
    assert spec_registry.lookup("project.part.Second_2") is SecondSpec
    assert spec_registry.get_name(FirstSpec) == "project.First"
    assert spec_registry.get_name(SecondSpec) == "project.part.Second_2"


def test_each_name_and_class_is_registered_once():
    spec_registry.register("project.First")(FirstSpec)
    with pytest.raises(ValueError, match=r"Class .*FirstSpec has already been registered with name project\.First\."):
        spec_registry.register("project.Other")(FirstSpec)
    with pytest.raises(ValueError, match=r"Name project\.First has already been registered for class .*\.FirstSpec\."):
        spec_registry.register("project.First")(SecondSpec)
    with pytest.raises(ValueError, match=r"No TypeSpec has been registered with name 'project\.Other'"):
        spec_registry.lookup("project.Other")
    with pytest.raises(ValueError, match=r"TypeSpec .*SecondSpec has not been registered\."):
        spec_registry.get_name(SecondSpec)


@pytest.mark.parametrize("name", ["First", "project.", ".First", "a..b", "project.First ", "", "a-b.c"])
def test_forms_of_names(name):
    with pytest.raises(ValueError, match=r"Registered name must have the form '{project_name}\.{type_name}'"):
        spec_registry.register(name)


def test_what_is_refused():
    for call in (spec_registry.register, spec_registry.lookup):
        with pytest.raises(TypeError, match="Expected `name` to be a string; got 3"):
            call(3)
    for kind in (int, FirstSpec([2]), "FirstSpec"):
        for call in (spec_registry.get_name, spec_registry.register("project.First")):
            with pytest.raises(TypeError, match="Expected `cls` to be a TypeSpec; got"):
                call(kind)
