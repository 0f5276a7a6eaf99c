"""Machine code for this processor, through LLVM.

LLVM is loaded when the first kernel is compiled. Object code is cached on disk. The cache key contains everything that
determines the code: the kernel's description, the files that write kernels, the processor and LLVM's version. Writing
LLVM IR in Python takes longer than running a kernel a thousand times, so it is written only on a cache miss.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import pathlib
import platform
import threading
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core import disk_cache
from tapeflow.core.ops import elements
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.rng import elements as random_elements

_lock = threading.Lock()  # only one thread at a time may create LLVM modules


class Target:
    """The processor that kernels are compiled for.

    Attributes:
        lanes: the number of float32 numbers in a vector register.
        has_fma: True if it has instructions for fused multiply-adds.
    """

    def __init__(self) -> None:
        try:
            import llvmlite.binding as llvm
        except ImportError as error:
            raise Unsupported("llvmlite is not installed") from error
        self._llvm = llvm
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.cpu = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        # Without the last one, some processors split vectors of 512 bits, and could not call functions of them.
        self._features = features.flatten() + (",-prefer-256-bit" if features.get("avx512f") else "")
        self.lanes = 16 if features.get("avx512f") else 8 if features.get("avx2") else 4
        self.has_fma = bool(features.get("fma")) or platform.machine().lower() in ("arm64", "aarch64")
        for library in _libraries():
            llvm.load_library_permanently(str(library))
        self._machine = llvm.Target.from_default_triple().create_target_machine(
            opt=2, codemodel="jitdefault", jit=True, cpu=self.cpu, features=self._features
        )
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)
        self._key = f"{llvm.llvm_version_info} {self.cpu} {self._features} {_sources()}".encode()
        self._objects: dict[str, Any] = {}  # the names of functions whose code is loaded

    def has(self, symbol: str) -> bool:
        """Returns True if machine code can call a function of this name."""
        return self._llvm.address_of_symbol(symbol) is not None

    def address(self, name: str, key: str, text: Callable[[], str]) -> int:
        """Returns the address of a function.

        Args:
            name: the beginning of the function's name; a hash follows.
            key: a description that determines the function.
            text: returns the LLVM IR of a module, with `{name}` for the function's name.
        """
        digest = hashlib.sha256(f"{name} {key}".encode() + self._key).hexdigest()[:32]
        unique = f"{name}_{digest}"
        with _lock:
            known = unique in self._objects
            code = None if known else disk_cache.read(digest)
        written = text() if not known and code is None else ""  # `text` acquires the lock to get the target
        with _lock:
            if unique not in self._objects:
                code = code or self._compiled(written.replace("{name}", unique), digest)
                self._engine.add_object_file(self._llvm.object_file.ObjectFileRef.from_data(code))
                self._engine.finalize_object()
                self._objects[unique] = True
            return self._engine.get_function_address(unique)

    def _compiled(self, text: str, digest: str) -> bytes:
        llvm = self._llvm
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = self._machine.triple, str(self._machine.target_data)
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False  # it is in vectors
        builder = llvm.create_pass_builder(self._machine, options)
        builder.getModulePassManager().run(module, builder)
        code = self._machine.emit_object(module)
        disk_cache.write(digest, code)
        return code


def target() -> Target:
    """Returns the target of this process.

    Raises:
        Unsupported: llvmlite is not installed.
    """
    with _lock:
        return _target()


@functools.cache
def _target() -> Target:
    return Target()


def function(name: str, key: str, text: Callable[[], str], arguments: int) -> Any:
    """Returns a compiled function of pointers and integers. It runs without the interpreter's lock.

    Args:
        name, key, text: see `Target.address`.
        arguments: the number of its arguments.
    """
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)
    return kind(target().address(name, key, text))


def _sources() -> str:
    """Returns a hash of the files that write kernels: the modules of this package, and the element forms."""
    forms = [pathlib.Path(elements.__file__), pathlib.Path(random_elements.__file__)]
    files = [*sorted(pathlib.Path(__file__).parent.glob("*.py")), *forms]
    return hashlib.sha256(b"".join([file.read_bytes() for file in files])).hexdigest()


def _libraries() -> list[pathlib.Path]:
    """Returns torch's libraries, whose SLEEF functions and OpenMP threads kernels use."""
    folder = pathlib.Path(torch.__file__).parent / "lib"
    patterns = ("libtorch_cpu.*", "torch_cpu.dll", "libgomp*", "libomp*", "libiomp5*")
    return [path for pattern in patterns for path in sorted(folder.glob(pattern))]
