"""Files that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pantograf.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that becomes `path` when the block ends without an exception; `.gz` is compressed.

    A symbolic link stays and what it points to is replaced; a pipe or a device is written to as it is.
    """
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise UserError(f"cannot write {path}: it is a folder", hint="give a file's name")
    direct = place.exists() and not place.is_file()
    part = place if direct else place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", 6, file, mtime=0) as compressed:
                    yield compressed  # type: ignore[misc]
            else:
                yield file
        if not direct:
            os.replace(part, place)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if not direct:
            part.unlink(missing_ok=True)
