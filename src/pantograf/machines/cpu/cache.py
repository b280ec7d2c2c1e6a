"""Where emitted programs and their compiled code live: one folder per content hash, so that nothing is ever stale or half-written."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pantograf import files
from pantograf.errors import UserError

DEFAULT_LIMIT_BYTES = 512 * 2**20


def folder() -> Path:
    """The cache's place: `PANTOGRAF_CACHE`, or the user's cache folder, or (read-only home) a private temporary one."""
    wanted = os.environ.get("PANTOGRAF_CACHE")
    if wanted:
        place = Path(wanted)
        if not _writable(place):
            raise UserError(f"cannot write to PANTOGRAF_CACHE={wanted}", hint="name a folder that you may write to")
        return place
    home = Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / (".cache" if sys.platform != "darwin" else "Library/Caches")
    )
    if _writable(home / "pantograf"):
        return home / "pantograf"
    place = Path(tempfile.gettempdir()) / f"pantograf-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.stat().st_uid != os.getuid():
        raise UserError(f"{place} belongs to somebody else", hint="set PANTOGRAF_CACHE to a folder of yours")
    return place


def _writable(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        return os.access(place, os.W_OK)
    except OSError:
        return False


def limit_bytes() -> int:
    """How large the cache may become: `PANTOGRAF_CACHE_LIMIT` (bytes) or 512 MiB; the longest unused go first."""
    try:
        return int(os.environ.get("PANTOGRAF_CACHE_LIMIT", DEFAULT_LIMIT_BYTES))
    except ValueError:
        raise UserError("PANTOGRAF_CACHE_LIMIT is not a whole number", hint="bytes, for example 536870912") from None


def entries() -> list[Path]:
    """The folders of the emitted programs, the longest unused first."""
    found = [p for p in folder().iterdir() if p.is_dir() and p.name.startswith("p")]
    return sorted(found, key=lambda p: p.stat().st_mtime)


def size_bytes() -> int:
    """How much the cache holds."""
    return sum(_size(entry) for entry in entries())


def _size(entry: Path) -> int:
    return sum(f.stat().st_size for f in entry.rglob("*") if f.is_file())


def clear() -> int:
    """Empty the cache; how many bytes went."""
    gone = size_bytes()
    for entry in entries():
        shutil.rmtree(entry, ignore_errors=True)
    return gone


def trim() -> None:
    """Drop the longest unused entries until the cache is within its limit."""
    found = entries()
    sizes = [_size(entry) for entry in found]
    excess = sum(sizes) - limit_bytes()
    for entry, size in zip(found[:-1], sizes, strict=False):
        if excess <= 0:
            return
        shutil.rmtree(entry, ignore_errors=True)
        excess -= size


@lru_cache(maxsize=1)
def _foundation() -> str:
    """What compiled code depends on beside its text: our runtime, Numba, and the processor."""
    import llvmlite
    import numba

    parts = [numba.__version__, llvmlite.__version__, platform.python_version(), platform.machine(), _processor()]
    here = Path(__file__).parent
    parts += [file.read_text() for file in sorted([here / "intrinsics.py", *(here / "runtime").glob("*.py")])]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _processor() -> str:
    from llvmlite import binding

    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""
    return f"{binding.get_host_cpu_name()} {features}"


def load(text: str, externs: Mapping[str, Callable[..., Any]]) -> tuple[ModuleType, bool]:
    """The emitted program as a module, and whether compiled code for it is there already."""
    key = [_foundation(), text, *(f"{n}{f.__code__.co_code.hex()}{f.__code__.co_consts!r}" for n, f in externs.items())]
    digest = hashlib.blake2b("\0".join(key).encode(), digest_size=12).hexdigest()
    name = f"pantograf_emitted_{digest}"
    if name in sys.modules:
        return sys.modules[name], True
    place = folder() / f"p{digest}"
    file = place / f"{name}.py"
    if not file.is_file() or file.read_text(errors="replace") != text:
        place.mkdir(exist_ok=True)
        with files.replacing(file) as whole:
            whole.write(text.encode())
        trim()
    else:
        os.utime(place)
    warm = any(place.rglob("*.nbi"))
    found = importlib.util.spec_from_file_location(name, file)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    vars(module).update({f"extern_{key}": _compiled(f) for key, f in externs.items()})
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module, warm


def forget(module: ModuleType) -> None:
    """Drop an emitted program and its compiled code: the next `load` starts anew."""
    sys.modules.pop(module.__name__, None)
    assert module.__file__ is not None
    shutil.rmtree(Path(module.__file__).parent, ignore_errors=True)


def _compiled(function: Callable[..., Any]) -> Any:
    import numba

    return function if hasattr(function, "py_func") else numba.njit(function, nogil=True, error_model="numpy")
