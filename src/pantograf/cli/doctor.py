"""`pantograf doctor`: whether everything that Pantograf needs is here and works."""

from __future__ import annotations

import os
import platform
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import typer

from pantograf.cli.options import Json
from pantograf.cli.output import Output

CORE = ("numpy", "scipy", "numba", "llvmlite", "xdsl", "typer", "rich", "pooch")
OPTIONAL = {
    "matplotlib": "report",
    "pyarrow": "parquet",
    "networkx": "networkx",
    "pandas": "dataframe",
} | dict.fromkeys(("networkit", "igraph", "python-graphblas", "rustworkx"), "bench")


class Finding(NamedTuple):
    """One thing that was looked at. `fine` is None where it is a fact and not a judgement."""

    name: str
    fine: bool | None
    what: str


def doctor(json: Json = False) -> None:
    """Look at versions, processor, threads, memory, the cache and the compiler."""
    with Output(json) as out:
        with out.working("looking"):
            found = [*versions(), *hardware(), *data(), *cache(), compiler()]
        healthy = all(finding.fine is not False for finding in found)
        if json:
            out.document({"healthy": healthy, "findings": [finding._asdict() for finding in found]})
        else:
            marks = {True: "ok", False: "BAD", None: ""}
            out.table("doctor", ("what", "", "found"), [(f.name, marks[f.fine], f.what) for f in found])
        if not healthy:
            raise typer.Exit(1)


def versions() -> list[Finding]:
    """Python, Pantograf, and the libraries under it."""
    from importlib.metadata import PackageNotFoundError, version

    from pantograf import __version__

    found = [
        Finding("pantograf", None, __version__),
        Finding("python", sys.version_info >= (3, 11), platform.python_version()),
    ]
    for name in CORE:
        try:
            found.append(Finding(name, True, version(name)))
        except PackageNotFoundError:
            found.append(Finding(name, False, "missing: install Pantograf again"))
    for name, extra in OPTIONAL.items():
        try:
            found.append(Finding(name, True, version(name)))
        except PackageNotFoundError:
            found.append(Finding(name, None, f"not here; pip install 'pantograf[{extra}]'"))
    return found


def hardware() -> list[Finding]:
    """Processor, threads that this process may use, memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = [
        Finding("system", None, f"{platform.system()} {platform.machine()}"),
        Finding("processor", None, processor()),
        Finding("threads", None, f"{cores} of {os.cpu_count()}"),
    ]
    memory = memory_bytes()
    if memory is not None:
        free, total = memory
        found.append(Finding("memory", free > 2**29, f"{free / 2**30:.1f} GiB free of {total / 2**30:.1f}"))
    return found


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def memory_bytes() -> tuple[int, int] | None:
    """Free and total memory, where the system tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    sizes = {
        name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines) if rest.split()
    }
    return sizes.get("MemAvailable", 0), sizes.get("MemTotal", 0)


def data() -> list[Finding]:
    """The local folders of data sets, if any are set."""
    from pantograf.graphs import datasets

    folders = datasets.folders()
    if not folders:
        return [Finding("PANTOGRAF_DATA", None, "not set: data sets are downloaded")]
    missing = [str(folder) for folder in folders if not folder.is_dir()]
    what = f"not a folder: {', '.join(missing)}" if missing else f"{len(datasets.local())} graphs"
    return [Finding("PANTOGRAF_DATA", not missing, what)]


def cache() -> list[Finding]:
    """The place of compiled programs, and whether it can be written."""
    from pantograf.machines.cpu import cache as place

    folder = Path(place.folder())
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    writable = os.access(existing, os.W_OK)
    what = str(folder) if writable else f"{folder} cannot be written: programs are compiled in each process"
    return [Finding("cache", writable, f"{what}, {place.size_bytes() / 1e6:.1f} MB")]


def compiler() -> Finding:
    """Compile and run a small function."""
    try:
        from llvmlite import binding
        from numba import njit

        start = time.perf_counter()
        answer = int(njit(_double)(21))
        seconds = time.perf_counter() - start
    except Exception as error:  # whatever the compiler says is the finding
        return Finding("compiler", False, f"Numba does not work here: {error}")
    llvm = ".".join(map(str, binding.llvm_version_info))
    return Finding("compiler", answer == 42, f"LLVM {llvm}, compiled a function in {seconds:.2f} s")


def _double(x: Any) -> Any:
    return x + x
