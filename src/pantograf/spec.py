"""The text form of a frozen dataclass, `polygraph{cores=16, variant=AwTl}`: parse, print, check, enumerate.

A class takes part by being a frozen dataclass with a class variable `spec_name`; each field's annotation says which values
are legal. `Literal`, `bool`, `int`, `float`, `str`, another spec class, a tuple of these, and unions with `None` are understood.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

from pantograf.errors import UserError

T = TypeVar("T")
_TOKEN = re.compile(r"""\s*(?:(?P<word>[^\s{}\[\]=,:"']+)|(?P<string>"[^"]*"|'[^']*')|(?P<mark>[{}\[\]=,:]))""")


@dataclasses.dataclass(frozen=True)
class Text:
    """A parsed but unchecked spec: a name and its settings, each a word, a list of words, or another spec."""

    name: str
    settings: Mapping[str, Any]


def parse(text: str) -> Text:
    """Read `name{a=1, b=[x, y], c=other{d=2}}`, or `name:a=1,b=2`, or a bare `name`."""
    reader = _Reader(text)
    result = reader.spec()
    reader.end()
    return result


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, message: str) -> typing.NoReturn:
        raise UserError(
            f"cannot read {self.text!r}: {message} at column {self.at + 1}",
            hint="write name{setting=value, setting=value}",
        )

    def peek(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        return match.group().strip() if match else ""

    def take(self, wanted: str = "") -> str:
        match = _TOKEN.match(self.text, self.at)
        found = match.group().strip() if match else ""
        if match is None or (wanted and found != wanted):
            self.fail(f"expected {wanted or 'a word'}, found {found or 'the end'}")
        self.at = match.end()
        return found

    def word(self) -> str:
        if self.peek() in ("", "{", "}", "[", "]", "=", ",", ":"):
            self.fail(f"expected a word, found {self.peek() or 'the end'}")
        found = self.take()
        return found[1:-1] if found[0] in "\"'" else found

    def spec(self) -> Text:
        name = self.word()
        if self.peek() == "{":
            self.take("{")
            settings = self.settings("}")
            self.take("}")
            return Text(name, settings)
        if self.peek() == ":":
            self.take(":")
            return Text(name, self.settings(""))
        return Text(name, {})

    def settings(self, closing: str) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        while self.peek() != closing:
            key = self.word()
            self.take("=")
            if key in settings:
                self.fail(f"{key} is given twice")
            settings[key] = self.value()
            if self.peek() != ",":
                break
            self.take(",")
        return settings

    def value(self) -> Any:
        if self.peek() == "[":
            self.take("[")
            items = []
            while self.peek() != "]":
                items.append(self.value())
                if self.peek() != ",":
                    break
                self.take(",")
            self.take("]")
            return items
        start = self.at
        word = self.word()
        if self.peek() == "{":
            self.at = start
            return self.spec()
        return word

    def end(self) -> None:
        if self.text[self.at :].strip():
            self.fail(f"did not expect {self.text[self.at :].strip()!r}")


def build(kind: type[T], text: str | Text) -> T:
    """The `kind` that `text` describes; a wrong name, setting or value is a `UserError` that lists the legal ones."""
    read = parse(text) if isinstance(text, str) else text
    name = kind.spec_name  # type: ignore[attr-defined]
    if read.name != name:
        raise UserError(f"expected {name!r}, found {read.name!r}", hint=f"write {name}{{...}}")
    return fill(kind, read.settings)


def fill(kind: type[T], settings: Mapping[str, Any]) -> T:
    """`kind(**settings)` from words, each checked against its field's annotation."""
    annotations = field_types(kind)
    name = getattr(kind, "spec_name", kind.__name__)
    values = {}
    for key, word in settings.items():
        if key not in annotations:
            close = difflib.get_close_matches(key, annotations, 1)
            hint = (f"did you mean {close[0]!r}? " if close else "") + f"settings of {name}: {', '.join(annotations)}"
            raise UserError(f"{name} has no setting {key!r}", hint=hint)
        values[key] = _convert(f"{name}.{key}", annotations[key], word)
    missing = [
        f.name
        for f in dataclasses.fields(kind)  # type: ignore[arg-type]
        if f.init
        and f.name not in values
        and f.default is dataclasses.MISSING
        and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise UserError(f"{name} needs {', '.join(missing)}", hint=f"write {name}{{{missing[0]}=...}}")
    return kind(**values)


def field_types(kind: type) -> dict[str, Any]:
    """Each field that the text form shows, with its resolved annotation."""
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in dataclasses.fields(kind) if f.init}


def legal(annotation: Any) -> str:
    """The legal values of an annotation, in words, for hints and help."""
    if typing.get_origin(annotation) is Literal:
        return ", ".join(show(a) for a in typing.get_args(annotation))
    if _is_union(annotation):
        return " or ".join(legal(a) for a in typing.get_args(annotation))
    if annotation in (None, type(None)):
        return "none"
    if typing.get_origin(annotation) is tuple:
        return f"a list of: {legal(typing.get_args(annotation)[0])}"
    plain = {int: "a whole number", float: "a number", bool: "true, false", str: "a word"}
    return plain.get(annotation) or f"{getattr(annotation, 'spec_name', annotation)}{{...}}"


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _convert(where: str, annotation: Any, word: Any) -> Any:
    found = _try(annotation, word)
    if found is _NO:
        shown = print_text(word) if isinstance(word, Text) else str(word)
        raise UserError(f"{where} cannot be {shown!r}", hint=f"legal: {legal(annotation)}")
    return found


_NO = object()


def _try(annotation: Any, word: Any) -> Any:
    """The value of `word` under `annotation`, or `_NO`."""
    if typing.get_origin(annotation) is Literal:
        options = {show(option): option for option in typing.get_args(annotation)}
        return options.get(str(word), _NO)
    if _is_union(annotation):
        for option in sorted(typing.get_args(annotation), key=lambda a: a is str):
            if (found := _try(option, word)) is not _NO:
                return found
        return _NO
    if annotation in (None, type(None)):
        return None if word == "none" else _NO
    if typing.get_origin(annotation) is tuple:
        items = [_try(typing.get_args(annotation)[0], item) for item in (word if isinstance(word, list) else [word])]
        return _NO if _NO in items else tuple(items)
    if isinstance(word, Text) or dataclasses.is_dataclass(annotation):
        return _try_nested(annotation, word)
    if annotation is bool:
        return {"true": True, "false": False}.get(str(word).lower(), _NO)
    if annotation is str:
        return word if isinstance(word, str) else _NO
    try:
        return annotation(word) if annotation in (int, float) and isinstance(word, str) else _NO
    except ValueError:
        return _NO


def _try_nested(annotation: Any, word: Any) -> Any:
    read = Text(word, {}) if isinstance(word, str) else word
    matches = isinstance(read, Text) and getattr(annotation, "spec_name", None) == read.name
    return fill(annotation, read.settings) if matches else _NO


def show(value: Any) -> str:
    """The text form of a value, a spec or a field; `build(type(s), show(s)) == s`."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(show(v) for v in value) + "]"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = [
            f"{f.name}={show(getattr(value, f.name))}"
            for f in dataclasses.fields(value)
            if f.init and getattr(value, f.name) != _default(f)
        ]
        name = getattr(value, "spec_name", type(value).__name__)
        return name + (f"{{{', '.join(changed)}}}" if changed else "")
    text = str(value)
    return f'"{text}"' if isinstance(value, str) and (not text or re.search(r"[\s{}\[\]=,:]", text)) else text


def print_text(text: Text) -> str:
    """A parsed spec as text again."""
    inner = ", ".join(f"{k}={print_text(v) if isinstance(v, Text) else show(v)}" for k, v in text.settings.items())
    return text.name + (f"{{{inner}}}" if inner else "")


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def enumerate_settings(kind: type, **choices: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Every setting of the `Literal` and `bool` fields of `kind`, with the values given in `choices` for its other fields."""
    options = []
    for name, annotation in field_types(kind).items():
        if name in choices:
            options.append([(name, value) for value in choices[name]])
        elif typing.get_origin(annotation) is Literal:
            options.append([(name, value) for value in typing.get_args(annotation)])
        elif annotation is bool:
            options.append([(name, value) for value in (False, True)])
    for combination in itertools.product(*options):
        yield dict(combination)
