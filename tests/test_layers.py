"""The shape of the package: imports point one way, heavy libraries stay where they belong, machines know no algorithm."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pantograf"

# From the bottom up. What stands on one line may not import its neighbours on that line.
LAYERS = [
    ["errors"],
    ["files", "spec"],
    ["graphs", "hardware"],
    ["load", "result"],
    ["ir"],
    ["schedule"],
    ["passes", "isa"],
    ["lang"],
    ["machine"],
    ["machines"],
    ["algorithms"],
    ["conformance"],
    ["advise", "tune"],
    ["experiments", "report"],
    ["bench"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# The ways up: a program finds the contract of machines, and the contract finds a machine by the name of its file.
HOOKS = {("lang/program.py", "machine"), ("machine.py", "machines")}

XDSL_FOLDERS = {"ir", "passes", "isa", "lang", "machines"}


def files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The layer that a file belongs to: the folder or module directly in the package."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def dotted(path: Path) -> list[str]:
    """The packages around a module, for relative imports."""
    return ["pantograf", *path.relative_to(SOURCE).parts[:-1]]


def public_names() -> dict[str, str]:
    """Where the names of `pantograf/__init__.py` come from."""
    import pantograf

    return {**pantograf._WHERE, **pantograf._MODULES}


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Each module of Pantograf that a file imports anywhere in it, and the line."""
    tree = ast.parse(path.read_text(), str(path))
    public = public_names()
    facades = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "pantograf":
                    facades.add(alias.asname or "pantograf")
                elif alias.name.startswith("pantograf."):
                    yield alias.name.removeprefix("pantograf."), node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                around = dotted(path)
                base = ".".join([*around[: len(around) - node.level + 1], *filter(None, [node.module])])
            if base == "pantograf":
                for alias in node.names:
                    if alias.name != "__version__":
                        yield public.get(alias.name, alias.name), node.lineno
            elif base.startswith("pantograf."):
                for alias in node.names:
                    yield f"{base.removeprefix('pantograf.')}.{alias.name}", node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            for value in ast.walk(node):
                if isinstance(value, ast.Constant) and str(value.value).startswith("pantograf."):
                    yield str(value.value).removeprefix("pantograf."), node.lineno
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in facades and attribute in public:
                yield public[attribute], node.lineno


def imported_libraries(path: Path) -> set[str]:
    """The libraries that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def test_every_module_has_a_layer() -> None:
    unknown = {part_of(path) for path in files()} - LEVEL.keys() - {"__init__", "__main__"}
    assert not unknown, f"place these in LAYERS: {sorted(unknown)}"


def test_imports_point_one_way() -> None:
    wrong = []
    for path in files():
        own = part_of(path)
        if own in ("__init__", "__main__"):
            continue
        relative = path.relative_to(SOURCE).as_posix()
        for target, line in imports(path):
            other = target.partition(".")[0]
            if other == own or (relative, other) in HOOKS:
                continue
            if other not in LEVEL or LEVEL[other] >= LEVEL[own]:
                wrong.append(f"{relative}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_the_hooks_are_used() -> None:
    for relative, other in HOOKS:
        targets = {target.partition(".")[0] for target, _ in imports(SOURCE / relative)}
        assert other in targets, f"{relative} no longer imports {other}: take the hook off the list"


def test_machines_do_not_know_each_other() -> None:
    wrong = []
    for path in (SOURCE / "machines").rglob("*.py"):
        own = path.relative_to(SOURCE / "machines").parts[0].removesuffix(".py")
        for target, line in imports(path):
            parts = target.split(".")
            if parts[0] == "machines" and len(parts) > 1 and parts[1] not in (own, "reference"):
                wrong.append(f"{path.relative_to(SOURCE)}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_xdsl_stays_inside_its_fence() -> None:
    wrong = [
        path.relative_to(SOURCE).as_posix()
        for path in files()
        if "xdsl" in imported_libraries(path) and part_of(path) not in XDSL_FOLDERS
    ]
    assert not wrong, f"xDSL outside {sorted(XDSL_FOLDERS)}: {wrong}"


def test_commands_load_heavy_things_late() -> None:
    """Each file of the command line imports at its top nothing that takes long: `--help` is quick."""
    wrong = []
    light = {"__future__", "typer"} | set(sys.stdlib_module_names)
    for path in (SOURCE / "cli").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                if name.partition(".")[0] in light or name == "pantograf.errors" or name.startswith("pantograf.cli"):
                    continue
                wrong.append(f"{path.name}:{node.lineno} imports {name}")
    assert not wrong, "\n".join(wrong)


def algorithm_names() -> list[str]:
    from pantograf import algorithms

    return algorithms.names()


@pytest.mark.parametrize("folder", ["machines", "passes"])
def test_no_kernels_by_name(folder: str) -> None:
    """A machine or a pass that names an algorithm could treat it apart from others that are the same but for the name."""
    names = algorithm_names()
    assert "bfs" in names
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(map(re.escape, names))})(?![A-Za-z])", re.IGNORECASE)
    wrong = []
    for path in (SOURCE / folder).rglob("*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := pattern.search(line):
                wrong.append(f"{path.relative_to(SOURCE)}:{number} says {found.group()!r}")
    assert not wrong, "\n".join(wrong)


def test_importing_pantograf_is_light() -> None:
    code = (
        "import time; start = time.process_time(); import pantograf; seconds = time.process_time() - start; import sys; "
        "print(seconds, *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    times, loaded = [], set()
    for run in runs:
        seconds, *modules = run.stdout.split()
        times.append(float(seconds))
        loaded |= set(modules)
    heavy = loaded & {"numpy", "scipy", "numba", "llvmlite", "xdsl", "typer", "rich", "pooch", "networkx", "pandas"}
    assert not heavy, f"import pantograf loads {sorted(heavy)}"
    assert min(times) < 0.05, f"import pantograf took {min(times):.3f} s at best"


def test_every_public_name_exists() -> None:
    import pantograf

    for name in dir(pantograf):
        assert getattr(pantograf, name) is not None or name in ("none", "__doc__"), name
