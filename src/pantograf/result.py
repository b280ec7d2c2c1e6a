"""What a run gives back: values under the program's names, statistics, and where they came from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pantograf import files
from pantograf.errors import UserError

if TYPE_CHECKING:
    import pandas

Value = Any
RESERVED = ("stats", "provenance", "values")


class Result:
    """Values by name (`result.parent`), `stats` (flat, dotted names) and `provenance`.

    A property is a NumPy array in the order of the vertices, no vertex is -1; a vertex set is a sorted array of ids.
    """

    values: dict[str, Value]
    stats: dict[str, int | float | str | bool]
    provenance: dict[str, Any]

    def __init__(
        self,
        values: Mapping[str, Value],
        stats: Mapping[str, int | float | str | bool],
        provenance: Mapping[str, Any],
        labels: Any = None,
    ) -> None:
        self.values = dict(values)
        self.stats = dict(stats)
        self.provenance = dict(provenance)
        self.labels = labels

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__") or "values" not in self.__dict__:
            raise AttributeError(name)
        if name in self.values:
            return self.values[name]
        raise AttributeError(f"this result has no {name!r}; it has: {', '.join(self.values) or 'no values'}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.values]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_brief(value)}" for name, value in self.values.items())
        return f"Result({self.provenance.get('program', '?')} on {self.provenance.get('machine', '?')}: {shown})"

    def _repr_html_(self) -> str:
        rows = [(name, _brief(value)) for name, value in self.values.items()]
        rows += [(name, str(value)) for name, value in self.stats.items()]
        body = "".join(f"<tr><th>{name}</th><td>{_escape(shown)}</td></tr>" for name, shown in rows)
        title = f"{self.provenance.get('program', '?')} on {self.provenance.get('machine', '?')}"
        return f"<table><caption>{_escape(title)}</caption>{body}</table>"

    def properties(self) -> dict[str, Any]:
        """The values that have one entry per vertex."""
        n = self.provenance.get("vertices")
        return {k: v for k, v in self.values.items() if isinstance(v, np.ndarray) and v.shape[:1] == (n,)}

    def by_label(self, name: str) -> dict[Any, Any]:
        """One property as a dictionary from the user's vertex names (or ids) to values."""
        value = self.properties().get(name)
        if value is None:
            raise UserError(
                f"{name!r} is not a property of this result", hint=f"properties: {', '.join(self.properties())}"
            )
        keys = range(len(value)) if self.labels is None else self.labels.tolist()
        return dict(zip(keys, value.tolist(), strict=True))

    def to_dataframe(self) -> pandas.DataFrame:
        """The properties of scalars as columns, one row per vertex."""
        try:
            import pandas
        except ImportError:
            raise UserError("to_dataframe needs pandas", hint="pip install pandas") from None
        columns = {name: value for name, value in self.properties().items() if value.ndim == 1}
        return pandas.DataFrame(columns, index=self.labels)

    def to_arrow(self) -> Any:
        """The properties of scalars as an Arrow table."""
        try:
            import pyarrow
        except ImportError:
            raise UserError("to_arrow needs pyarrow", hint="pip install 'pantograf[parquet]'") from None
        return pyarrow.table({name: value for name, value in self.properties().items() if value.ndim == 1})

    def to_dict(self, arrays: bool = True) -> dict[str, Any]:
        """Everything as JSON-able values; without `arrays`, their lengths stand for them."""
        values = {
            name: (value.tolist() if arrays else f"array of {len(value)}")
            if isinstance(value, np.ndarray)
            else _plain(value)
            for name, value in self.values.items()
        }
        return {
            "values": values,
            "stats": {k: _plain(v) for k, v in self.stats.items()},
            "provenance": {k: _plain(v) for k, v in self.provenance.items()},
        }

    def save(self, path: str | Path) -> None:
        """Write to an .npz file, which appears whole or not at all."""
        path = Path(path)
        extra = {"stats": self.stats, "provenance": self.provenance}
        text = json.dumps(extra, default=_plain)
        arrays: dict[str, Any] = {f"value:{name}": np.asarray(value) for name, value in self.values.items()}
        if self.labels is not None:
            arrays["labels"] = np.asarray(self.labels)
        with files.replacing(path) as file:
            np.savez(file, meta=np.array(text), **arrays)

    @staticmethod
    def load(path: str | Path) -> Result:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                extra = json.loads(str(file["meta"]))
                values = {k.removeprefix("value:"): file[k] for k in file.files if k.startswith("value:")}
                labels = file["labels"] if "labels" in file.files else None
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"{path} is not a saved result: {error}", hint="write one with result.save(path)") from None
        values = {k: v.item() if v.ndim == 0 else v for k, v in values.items()}
        return Result(values, extra["stats"], extra["provenance"], labels)


def _brief(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, threshold=6, edgeitems=3, precision=4)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
