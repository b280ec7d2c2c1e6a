"""Text files of numbers, read in blocks at array speed; only a block with a mistake is searched line by line."""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from pantograf.errors import Place, UserError
from pantograf.graphs import build
from pantograf.graphs.build import Array

_BLOCK_BYTES = 1 << 19
_HEADER_BYTES = 1 << 16
_SHOWN_CHARACTERS = 100
_LARGEST = 2**63 - 1


class Lines:
    """The lines of a text file, one at a time for headers and then in blocks; it knows the number of the next line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.next_line = 1
        self.compressed = path.suffix == ".gz"
        try:
            self._file: IO[bytes] = _opened(path)
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror or error}") from None

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def _guarded(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"cannot read {self.path} after line {self.next_line - 1}: {reason}") from None

    def header(self) -> tuple[str, int] | None:
        """The next line without its end and its number, or None at the end of the file."""
        raw = self._guarded(self._file.readline, _HEADER_BYTES)
        if not raw:
            return None
        number = self.next_line
        self.next_line += 1
        if len(raw) == _HEADER_BYTES:
            self.fail("this line is too long for a header", number, raw)
        return raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").rstrip("\r\n"), number

    def header_after(self, comments: str) -> tuple[str, int]:
        """The next line that is neither blank nor a comment."""
        while (found := self.header()) is not None:
            if found[0].strip() and found[0].lstrip()[0] not in comments:
                return found
        raise UserError(f"{self.path} ends before its header")

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Blocks of whole lines, each with the number of its first line; the last line gets its missing end."""
        rest = b""
        while chunk := self._guarded(self._file.read, max(_BLOCK_BYTES, len(rest))):
            cut = chunk.rfind(b"\n") + 1
            if cut == 0:
                rest += chunk
                build.require_memory(4 * len(rest), f"line {self.next_line} of {self.path}")
                continue
            block, rest = rest + chunk[:cut], chunk[cut:]
            yield self._counted(block)
        if rest:
            yield self._counted(rest + b"\n")

    def _counted(self, block: bytes) -> tuple[bytes, int]:
        first = self.next_line
        if (nul := block.find(b"\0")) >= 0:
            line = first + block.count(b"\n", 0, nul)
            self.fail(
                "a zero byte stands here, as where a file was not written to its end", line, hint="write it again"
            )
        self.next_line += block.count(b"\n")
        return (block.removeprefix(b"\xef\xbb\xbf") if first == 1 else block), first

    def fail(
        self, reason: str, line: int, text: bytes | str = "", column: int = 0, width: int = 0, hint: str = ""
    ) -> NoReturn:
        raise UserError(reason, self.place(line, text, column, width), hint)

    def place(self, line: int, text: bytes | str = "", column: int = 0, width: int = 0) -> Place:
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        shown = shown.rstrip("\r\n")
        if len(shown) > _SHOWN_CHARACTERS:
            begin = max(0, column - _SHOWN_CHARACTERS // 2)
            shown, column = shown[begin : begin + _SHOWN_CHARACTERS], column - begin
        return Place(str(self.path), line, column, width or max(len(shown.strip()), 1), shown)

    def size_bytes(self) -> int | None:
        """The size of the text, where it is known without reading it."""
        return None if self.compressed else self.path.stat().st_size


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.open(path)  # type: ignore[return-value]
    return path.open("rb")


class Numbers(NamedTuple):
    """All numbers of a block, where each line ends, and where each number starts (byte positions)."""

    values: Array
    line_ends: npt.NDArray[np.intp]
    starts: npt.NDArray[np.intp]

    def per_line(self) -> npt.NDArray[np.intp]:
        return np.diff(np.searchsorted(self.starts, self.line_ends), prepend=0)


def numbers(block: bytes, as_float: bool) -> Numbers | None:
    """The numbers of a block as int64 or float64, or None where something else stands there."""
    characters = np.frombuffer(block, np.uint8)
    blank = characters <= 32
    begins = np.empty_like(blank)
    begins[0] = ~blank[0]
    np.greater(blank[:-1], blank[1:], out=begins[1:])
    starts = np.flatnonzero(begins)
    line_ends = np.flatnonzero(characters == 10)
    kind = np.float64 if as_float else np.int64
    if starts.size == 0:
        return Numbers(np.empty(0, kind), line_ends, starts)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # older NumPy warns where newer raises
            values = np.fromstring(block, dtype=kind, sep=" ")
    except ValueError:
        return None
    if values.size != starts.size:
        return None
    if not as_float and _saturated(values, block):
        return None
    return Numbers(values, line_ends, starts)


def _saturated(values: Array, block: bytes) -> bool:
    """Whether a number was too large for 64 bits and became the largest one."""
    reached = int((values == _LARGEST).sum()) + int((values == -_LARGEST - 1).sum())
    if not reached:
        return False
    return reached != len(re.findall(rb"(?<!\S)(?:9223372036854775807|-9223372036854775808)(?!\S)", block))


class EdgeLines(NamedTuple):
    """What each line of an edge file holds: which numbers, how ids are counted and how many are legal."""

    weight: str = ""
    """"" for none, "integer", or "number"."""
    base: int = 0
    rows: int | None = None
    columns: int | None = None
    promised: int | None = None
    promise_line: int = 0
    prefix: bytes = b""
    comments: bytes = b"#%"
    written: str = "source destination"

    @property
    def width(self) -> int:
        return 3 if self.weight else 2


def read_edges(lines: Lines, form: EdgeLines) -> tuple[Array, Array, Array | None]:
    """Sources, destinations and weights (int64 or float64) of the remaining lines."""
    kept: list[tuple[Array, Array, Array | None]] = []
    comment = re.compile(rb"(?m)^[ \t]*[" + form.comments + rb"].*$")
    as_float = False
    found = 0
    largest = -1
    for count, (block, first_line) in enumerate(lines.blocks()):
        body = comment.sub(b"", block) if any(c in block for c in _each(form.comments)) else block
        prefixed = None
        if form.prefix:
            body, prefixed = _without_prefix(body, form.prefix)
        read = numbers(body, as_float)
        if read is None and form.weight == "number" and not as_float:
            as_float = True
            read = numbers(body, True)
        columns = None if read is None else _columns(read, form)
        if read is None or columns is None or prefixed not in (None, columns[0].size):
            _explain(lines, block, first_line, form, comment)
        src, dst, weights = columns
        if form.rows is None and src.size and (top := max(int(src.max()), int(dst.max()))) > largest:
            largest = top
            row = int(np.argmax(np.maximum(src, dst)))
            line = int(np.searchsorted(read.line_ends, read.starts[row * form.width]))
            _check_stray(lines, largest, first_line + line, block)
        found += src.size
        if form.promised is not None and found > form.promised:
            lines.fail(
                f"the header promises {form.promised:,} edges, line {lines.next_line - 1} is past that",
                form.promise_line,
            )
        kept.append((_narrow(src), _narrow(dst), weights))
        if count % 64 == 0:
            build.require_memory(found * 8 * form.width, f"reading {lines.path}")
    if form.promised is not None and found < form.promised:
        lines.fail(f"the header promises {form.promised:,} edges, the file has {found:,}", form.promise_line)
    src = np.concatenate([block[0] for block in kept] or [np.empty(0, np.int32)])
    dst = np.concatenate([block[1] for block in kept] or [np.empty(0, np.int32)])
    if not form.weight:
        return src, dst, None
    return src, dst, np.concatenate([block[2] for block in kept if block[2] is not None] or [np.empty(0, np.int64)])


def _each(comments: bytes) -> Iterator[bytes]:
    return (comments[i : i + 1] for i in range(len(comments)))


def _without_prefix(block: bytes, prefix: bytes) -> tuple[bytes, int]:
    """The block with the prefix of each line blanked out, and how many lines have one."""
    marked = b"\n" + block
    start = b"\n" + prefix + b" "
    return marked.replace(start, b"\n" + b" " * (len(prefix) + 1))[1:], marked.count(start)


def _columns(read: Numbers, form: EdgeLines) -> tuple[Array, Array, Array | None] | None:
    """Ids from 0 and weights, or None where a line has other numbers than it should."""
    width = form.width
    count = read.values.size // width
    if count * width != read.values.size:
        return None
    begins, ends = read.starts[::width], read.starts[width - 1 :: width]
    line_of_begin = np.searchsorted(read.line_ends, begins) if read.line_ends.size != count else None
    if line_of_begin is None:
        regular = (ends < read.line_ends).all() and (begins[1:] > read.line_ends[:-1]).all()
    else:
        regular = (np.searchsorted(read.line_ends, ends) == line_of_begin).all() and (np.diff(line_of_begin) > 0).all()
    if not regular:
        return None
    table = read.values.reshape(count, width)
    ids = table[:, :2]
    if ids.dtype.kind == "f":
        whole = ids.astype(np.int64)
        if not (np.isfinite(ids).all() and (whole == ids).all()):
            return None
        ids = whole
    if count:
        if ids.min() < form.base:
            return None
        for column, limit in ((ids[:, 0], form.rows), (ids[:, 1], form.columns)):
            if limit is not None and column.max() - form.base >= limit:
                return None
    return ids[:, 0] - form.base, ids[:, 1] - form.base, table[:, 2].copy() if width == 3 else None


def _narrow(ids: Array) -> Array:
    return ids.astype(np.int32) if ids.size == 0 or ids.max() < 2**31 else ids


def _check_stray(lines: Lines, largest: int, line: int, block: bytes) -> None:
    """Refuse an id that could only stand for more vertices than memory holds."""
    if largest >= 1 << 26:
        first = lines.next_line - block.count(b"\n")
        text = block.split(b"\n")[line - first]
        build.require_memory(8 * largest, f"a graph of {largest + 1:,} vertices", lines.place(line, text))


def _explain(lines: Lines, block: bytes, first_line: int, form: EdgeLines, comment: re.Pattern[bytes]) -> NoReturn:
    """Raise for the first line of the block that is not as it should be."""
    for number, line in enumerate(block.split(b"\n"), first_line):
        if not line.strip() or comment.match(line):
            continue
        if (wrong := _mistake(line, form)) is not None:
            reason, column, width = wrong
            lines.fail(reason, number, line, column, width, hint=f"each line holds: {form.written}")
    raise AssertionError(f"{lines.path}: lines from {first_line} were refused without a reason")


def _mistake(line: bytes, form: EdgeLines) -> tuple[str, int, int] | None:
    """What is wrong with one line, and where."""
    words = [
        (word.group().decode("utf-8", "replace"), word.start()) for word in re.finditer(rb"[^\x00-\x20]+|\x00+", line)
    ]
    if form.prefix:
        letter = form.prefix.decode()
        if not line.startswith(form.prefix + b" "):
            return f"expected a line that starts with '{letter} ', found {words[0][0]!r}", words[0][1], len(words[0][0])
        words = words[1:]
    if len(words) != form.width:
        return f"expected {form.width} numbers, found {len(words)}", 0, len(line.rstrip())
    for (word, at), limit in zip(words[:2], (form.rows, form.columns), strict=True):
        if not re.fullmatch(r"[+-]?[0-9]+", word):
            return f"{word!r} is no vertex id", at, len(word)
        if int(word) < form.base:
            return f"{word} is no vertex id, they start at {form.base}", at, len(word)
        if limit is not None and int(word) - form.base >= limit:
            return f"vertex {word} is beyond the {limit:,} that the header promises", at, len(word)
        if int(word) > _LARGEST:
            return f"{word} does not fit in a 64-bit vertex id", at, len(word)
    if form.weight:
        word, at = words[2]
        if form.weight == "integer":
            if not re.fullmatch(r"[+-]?[0-9]+", word) or not -_LARGEST - 1 <= int(word) <= _LARGEST:
                return f"{word!r} is no 64-bit whole number", at, len(word)
        elif not re.fullmatch(
            r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)", word, re.IGNORECASE
        ):
            return f"{word!r} is no weight", at, len(word)
    return None


def counts(lines: Lines, words: list[str], line: int, text: str, names: list[str]) -> list[int]:
    """Whole numbers of a header, from 0."""
    found = []
    for word, name in zip(words, names, strict=True):
        if not re.fullmatch(r"[0-9]+", word) or int(word) > _LARGEST:
            lines.fail(f"{word!r} is no number of {name}", line, text, max(text.find(word), 0), len(word))
        found.append(int(word))
    return found


def check_promise(lines: Lines, edges: int, least_bytes: int, line: int, text: str) -> None:
    """Refuse a header that promises more edges than the rest of the file has room for."""
    size = lines.size_bytes()
    if size is not None and edges * least_bytes > size + 1:
        lines.fail(f"the header promises {edges:,} edges, a file of {size:,} bytes cannot hold them", line, text)


def weight_type(weights: Array | None) -> Array | None:
    """Whole numbers as int32 where all fit, as text does not say their type."""
    if (
        weights is not None
        and weights.dtype == np.int64
        and (weights.size == 0 or (weights.min() >= -(2**31) and weights.max() < 2**31))
    ):
        return weights.astype(np.int32)
    return weights


def write_rows(file: IO[bytes], columns: list[Array], template: str) -> None:
    """One line for each row of the columns; `template` has one %s for each column."""
    size = columns[0].size
    step = 1 << 16
    for begin in range(0, size, step):
        part = [exact_words(column[begin : begin + step]) for column in columns]
        cells: list[Any] = [None] * (len(part) * len(part[0]))
        for at, column in enumerate(part):
            cells[at :: len(part)] = column
        file.write((template * len(part[0]) % tuple(cells)).encode("ascii"))


def exact_words(column: Array) -> list[Any]:
    """Values whose text reads back to the same bits."""
    words: list[Any] = column.astype("U24").tolist() if column.dtype == np.float32 else column.tolist()
    return words
