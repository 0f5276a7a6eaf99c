"""Writes a `.pyi` file beside each namespace, by which editors and type checkers know its names, without TensorFlow.

The source of a namespace imports its names and derives `__all__` when it runs, which checkers can't follow.
"""

import ast
import importlib
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2] / "src"
UNTYPED = "tapeflow.core.unsupported"
FIRST = "# Written by `scripts/record.py stubs`."


def sources():
    """Returns the files of namespaces that publish what other files define."""
    files = [p for folder in ("tapeflow", "tapeflow_compat") for p in sorted((ROOT / folder).rglob("*.py"))]
    return [p for p in files if "_publish(" in (text := p.read_text()) and (p.name == "__init__.py" or hands_on(text))]


def hands_on(text: str) -> bool:
    """Returns True if a module imports public names, and not only what it needs itself."""
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    return any(not (alias.asname or alias.name).startswith("_") for node in imports for alias in node.names)


def stub(path: pathlib.Path) -> str:
    """Returns the text of the stub of a namespace."""
    package = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(package.replace("tapeflow_compat", "tapeflow"))
    origins = {}
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origins |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            origins |= {target.id: ("", ast.unparse(node.value)) for target in node.targets}
        elif isinstance(node, ast.keyword) and node.arg == "later":
            later = eval(ast.unparse(node.value), vars(module))
            origins |= {name: (home, name) for home, names in later.items() for name in names}
    lines = [FIRST]
    for name in sorted(module.__all__):
        home, original = origins.get(name, (UNTYPED, name))
        if home == UNTYPED:
            lines.append(f"{name}: Any")
            lines[1:1] = ["from typing import Any"] * ("from typing import Any" not in lines)
        elif home and name == original:
            lines.append(f"from {home} import {name} as {name}")
        else:
            lines += [f"from {home} import {original} as _{name}"] * bool(home)
            lines.append(f"{name} = {f'_{name}' if home else original}")
    return "\n".join([*lines, ""])


def main():
    for path in sources():
        path.with_suffix(".pyi").write_text(stub(path))
