"""Conversion of a function, once for each code object, and `converted_call`, which converts callees.

`convert_function(function)` is for code that traces: `tf.function`, `tf.data`. Converted code wraps each callee in
`converted_call(f)`; nearly always that is one lookup in a dict, by the callee's type or code object.
"""

from __future__ import annotations

import ast
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from tapeflow.autograph import operators
from tapeflow.autograph.break_continue_return import UnsupportedJump
from tapeflow.autograph.modules import never_converted
from tapeflow.autograph.node_builders import OPERATORS, FreshNames, function
from tapeflow.autograph.operators.builtins import REPLACED, print_
from tapeflow.autograph.source import SourceNotFound, tree_of
from tapeflow.autograph.transform import Transformer, UnsupportedCode, first_parameter, is_generator
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.definition import Op

DO_NOT_CONVERT = "_autograph_do_not_convert"  # an attribute of functions that are never converted
Features = frozenset[str]
NO_FEATURES: Features = frozenset()


class Recipe:
    """The converted code of one code object, ready to be bound to the variables of any of its functions."""

    __slots__ = ("cells", "code", "operators")

    def __init__(self, code: types.CodeType, free: tuple[str, ...], features: Features) -> None:
        self.code = code
        self.cells = [free.index(name) if name in free else -1 for name in code.co_freevars]
        self.operators = types.CellType(_operator_namespace(features))

    def bind(self, function: types.FunctionType) -> types.FunctionType:
        """Returns the converted function, with the variables, defaults and globals of `function`."""
        closure = function.__closure__ or ()
        cells = tuple([self.operators if k < 0 else closure[k] for k in self.cells])
        new = types.FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__, cells)
        if function.__kwdefaults__:
            new.__kwdefaults__ = function.__kwdefaults__
        return new


# From a code object to its recipe, or None where the function is not converted. By the features that are on, and
# whether libraries are converted too.
_recipes: dict[tuple[Features, bool], weakref.WeakKeyDictionary[types.CodeType, Recipe | None]] = {}
_converted_code: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def convert_function(function: Any, features: Features = NO_FEATURES, libraries: bool = False) -> Any:
    """Returns the function with its control flow converted, or itself where there is nothing to convert.

    Where the source of a user's function is not available, a warning is logged and the function itself is returned.

    Args:
        function: a function, method or other callable.
        features: the names of further `Feature`s to convert.
        libraries: converts a library's function too, though not the functions it calls.
    """
    return _converted_call_with(features, libraries)(function)


@functools.cache
def _converted_call_with(features: Features, libraries: bool = False) -> Callable[[Any], Any]:
    """Returns `converted_call` with these features."""
    recipes = _recipes.setdefault((features, libraries), weakref.WeakKeyDictionary())
    by_code: dict[int, Any] = {}
    replaced = REPLACED | ({print: print_} if features & {"BUILTIN_FUNCTIONS", "ALL"} else {})

    def find(function: types.FunctionType) -> Recipe | None:
        code = function.__code__
        if code not in recipes:
            recipes[code] = None if _is_excluded(function, libraries) else recipe_of(function, features)
            by_code[id(code)] = recipes[code]
            weakref.finalize(code, by_code.pop, id(code), None)
        return recipes[code]

    def converted_call(f: Any) -> Any:
        """Returns the function to call for `f`: its conversion, a replacement of a builtin, or `f` itself."""
        cls = type(f)
        if cls is types.FunctionType:
            code = f.__code__
            try:
                recipe = by_code[id(code)]
            except KeyError:
                recipe = find(f)
            return f if recipe is None or f.__dict__.get(DO_NOT_CONVERT) else recipe.bind(f)
        if cls is types.MethodType:
            inner = converted_call(f.__func__)
            return f if inner is f.__func__ else types.MethodType(inner, f.__self__)
        if cls is types.BuiltinFunctionType or cls is type:
            return replaced.get(f, f)
        if cls is functools.partial:
            inner = converted_call(f.func)
            return f if inner is f.func else functools.partial(inner, *f.args, **f.keywords)
        return _called_object(f, cls, converted_call, libraries)

    return converted_call


def _called_object(f: Any, cls: type, converted_call: Callable[[Any], Any], libraries: bool) -> Any:
    """Returns the converted `__call__` of an object if it is written in Python, or the object itself."""
    method = getattr(cls, "__call__", None)  # noqa: B004
    excluded = isinstance(f, type) or (not libraries and never_converted(cls.__module__))
    if type(method) is not types.FunctionType or excluded:
        return f
    inner = converted_call(method)
    return f if inner is method else types.MethodType(inner, f)


def _is_excluded(function: types.FunctionType, libraries: bool) -> bool:
    """Returns True if a function is a library's, an op, already converted, or marked as not to be converted."""
    modules = () if libraries else (function.__globals__.get("__name__"), function.__module__)
    return (
        function.__code__ in _converted_code
        or isinstance(getattr(function, "op", None), Op)
        or any(never_converted(module) for module in modules)
        or function.__code__.co_flags & 0x2A0 != 0  # generators, coroutines and asynchronous generators
        or bool(function.__dict__.get(DO_NOT_CONVERT))
    )


@functools.cache
def _operator_namespace(features: Features) -> types.SimpleNamespace:
    """Returns the namespace `ag__` of code converted with these features."""
    return types.SimpleNamespace(
        **{n: getattr(operators, n) for n in dir(operators)}, converted_call=_converted_call_with(features)
    )


def recipe_of(function: types.FunctionType, features: Features) -> Recipe | None:
    """Converts a function. Returns None if there is nothing to convert, or, with a warning, if the conversion fails."""
    try:
        node, changed = transform_function(function)
        return compile_definition(node, function, features) if changed else None
    except (SourceNotFound, UnsupportedJump, UnsupportedCode) as error:
        get_logger().warning(
            "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, decorate the "
            "function with @tf.autograph.experimental.do_not_convert", function, error,
        )  # fmt: skip
    return None


def transform_function(function: types.FunctionType) -> tuple[Any, bool]:
    """Returns the converted definition of a function, and whether anything was converted.

    Raises:
        SourceNotFound: the source is not available.
        UnsupportedCode, UnsupportedJump: the function can't be converted.
    """
    node: Any = tree_of(function)
    if is_generator(node):
        return node, False
    owner = first_parameter(node) if "__class__" in function.__code__.co_freevars else None
    if private := _class_name(function):
        node = _Mangler(private).visit(node)
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
        node.returns = None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    node.args.defaults = [ast.copy_location(ast.Constant(None), d) for d in node.args.defaults]
    node.args.kw_defaults = [d and ast.copy_location(ast.Constant(None), d) for d in node.args.kw_defaults]
    used = {n.id if isinstance(n, ast.Name) else n.arg for n in ast.walk(node) if isinstance(n, (ast.Name, ast.arg))}
    transformer = Transformer(FreshNames(used), function.__globals__, set(function.__code__.co_freevars), set(), owner)
    node = transformer.function(node)
    return node, transformer.changed


def compile_definition(node: Any, function_: types.FunctionType, features: Features) -> Recipe:
    """Compiles a converted definition, with the file and lines of the user's code."""
    code = function_.__code__
    free = list(code.co_freevars)
    inner = node if isinstance(node, ast.FunctionDef) else ast.Return(node)
    name = code.co_name
    if isinstance(node, ast.FunctionDef):  # under its own name it would hide a global of that name from its body
        node.name = name = f"tf__{name}"
    factory = function("factory", [], [inner])
    factory.args.args = [ast.arg(name) for name in [OPERATORS, *free]]
    module = ast.Module([ast.fix_missing_locations(ast.copy_location(factory, node))], [])
    outer = compile(ast.fix_missing_locations(module), code.co_filename, "exec").co_consts[0]
    new = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    return Recipe(_rename_code(new, code.co_name, code.co_qualname), code.co_freevars, features)


_GENERATED = frozenset({"if_body", "else_body", "loop_body", "loop_test", "extra_test", "get_state", "set_state"})


def _rename_code(code: types.CodeType, name: str, qualname: str) -> types.CodeType:
    """Returns the code under the user's names, which tracebacks show, and registers it as converted."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = constant.co_name
            names = (name, qualname) if inner in _GENERATED else (inner, f"{qualname}.<locals>.{inner}")
            constant = _rename_code(constant, *names)
        constants.append(constant)
    code = code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(constants))
    _converted_code.add(code)
    return code


def is_converted_code(code: types.CodeType) -> bool:
    """Returns True if the code is the result of a conversion."""
    return code in _converted_code


def _class_name(function: types.FunctionType) -> str | None:
    """Returns the class of a method that uses private names, or None."""
    *_, owner, _name = ["", *function.__qualname__.split(".")]
    owner = owner.lstrip("_")
    if not owner or owner == "<locals>":
        return None
    code = function.__code__
    names = [*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars]
    inner = [n for c in code.co_consts if isinstance(c, types.CodeType) for n in c.co_names]
    return owner if any(n.startswith(f"_{owner}__") for n in [*names, *inner]) else None


class _Mangler(ast.NodeTransformer):
    """Mangles private names, `__name`, as Python does inside a class."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def _mangled(self, name: str) -> str:
        return f"_{self.owner}{name}" if name.startswith("__") and not name.endswith("__") else name

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._mangled(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.arg = self._mangled(node.arg)
        return node


converted_call = _converted_call_with(NO_FEATURES)
