"""Machine code for this processor, through LLVM.

LLVM is loaded when the first kernel is compiled. Object code is cached on disk. The cache key contains everything that
determines the code: the kernel's description, which the caller extends by the files that write its kernels, the
processor and LLVM's version. Writing LLVM IR in Python takes longer than running a kernel a thousand times, so it is
written only on a cache miss.
"""

from __future__ import annotations

import collections
import functools
import hashlib
import pathlib
import platform
import weakref
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core import disk_cache
from tapeflow.core.fork_locks import hold_during_forks, new_rlock
from tapeflow.core.ops.elements import Unsupported

_lock = new_rlock()  # only one thread at a time uses LLVM
hold_during_forks(_lock.acquire, _lock.release)
_MOST_RECENT = 128  # functions that stay loaded when nothing uses them, for the next function with equal kernels


class MachineCode:
    """The code of a function in memory, which is freed with this object.

    Args:
        engine: LLVM's engine that loaded it.
        name: the name of the function.

    Attributes:
        address: the address of the function.
    """

    def __init__(self, engine: Any, name: str) -> None:
        self.address: int = engine.get_function_address(name)
        weakref.finalize(self, _unload_engine, engine).atexit = False


def _unload_engine(engine: Any) -> None:
    with _lock:
        engine.close()


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
        for library in _torch_libraries():
            llvm.load_library_permanently(str(library))
        self._machine = self._new_machine()
        # The first engine of a process makes the symbols of the process itself known, such as Python's.
        llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._new_machine()).close()
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False  # it is in vectors
        self._builder = llvm.create_pass_builder(self._machine, options)
        self._key = f"{llvm.llvm_version_info} {self.cpu} {self._features}".encode()
        self._loaded: weakref.WeakValueDictionary[str, MachineCode] = weakref.WeakValueDictionary()
        self._recent: collections.deque[MachineCode] = collections.deque(maxlen=_MOST_RECENT)

    def has(self, symbol: str) -> bool:
        """Returns True if machine code can call a function of this name."""
        with _lock:
            return self._llvm.address_of_symbol(symbol) is not None

    def load(self, name: str, key: str, text: Callable[[], str]) -> MachineCode:
        """Returns the code of a function.

        Args:
            name: the beginning of the function's name; a hash follows.
            key: a description that determines the function.
            text: returns the LLVM IR of a module, with `{name}` for the function's name.
        """
        digest = hashlib.sha256(f"{name} {key}".encode() + self._key).hexdigest()[:32]
        unique = f"{name}_{digest}"
        loaded = self._loaded.get(unique)
        if loaded is None:
            code = disk_cache.read(digest)
            written = text().replace("{name}", unique) if code is None else ""
            with _lock:
                loaded = self._loaded.get(unique)
                if loaded is None:
                    loaded = MachineCode(self._engine(code or self._compiled(written, digest)), unique)
                    self._loaded[unique] = loaded
        self._recent.append(loaded)
        return loaded

    def _new_machine(self) -> Any:
        return self._llvm.Target.from_default_triple().create_target_machine(
            opt=2, codemodel="jitdefault", jit=True, cpu=self.cpu, features=self._features
        )

    def _engine(self, code: bytes) -> Any:
        """Returns a new engine with loaded object code. Engines free memory only as a whole."""
        llvm = self._llvm
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._new_machine())
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine

    def _compiled(self, text: str, digest: str) -> bytes:
        llvm = self._llvm
        module = llvm.parse_assembly(text, llvm.create_context())
        module.triple, module.data_layout = self._machine.triple, str(self._machine.target_data)
        module.verify()
        manager = self._builder.getModulePassManager()
        manager.run(module, self._builder)
        llvm.newpassmanagers.NewPassManager._dispose(manager)  # llvmlite keeps the memory of managers
        manager.detach()
        code = self._machine.emit_object(module)
        disk_cache.write(digest, code)
        return code


def target() -> Target:
    """Returns the target of this process.

    Raises:
        Unsupported: llvmlite is not installed.
    """
    with _lock:
        return _make_target()


@functools.cache
def _make_target() -> Target:
    return Target()


def _torch_libraries() -> list[pathlib.Path]:
    """Returns torch's libraries, whose SLEEF functions and OpenMP threads kernels use."""
    folder = pathlib.Path(torch.__file__).parent / "lib"
    patterns = ("libtorch_cpu.*", "torch_cpu.dll", "libgomp*", "libomp*", "libiomp5*")
    return [path for pattern in patterns for path in sorted(folder.glob(pattern))]
