"""`pantograf cache`: the compiled programs that are kept between runs."""

from __future__ import annotations

import typer

from pantograf.cli.options import Json
from pantograf.cli.output import Output

app = typer.Typer(help="The compiled programs that are kept between runs.", no_args_is_help=True)


@app.command()
def info(json: Json = False) -> None:
    """Where the cache is, and how large."""
    from pantograf.machines.cpu import cache

    with Output(json) as out:
        found = {"folder": str(cache.folder()), "bytes": cache.size_bytes()}
        if json:
            out.document(found)
            return
        out.pairs("cache", {"folder": found["folder"], "size": f"{cache.size_bytes() / 1e6:.1f} MB"})


@app.command()
def clear(json: Json = False) -> None:
    """Remove all compiled programs; they are made again when they are needed."""
    from pantograf.machines.cpu import cache

    with Output(json) as out:
        freed = cache.size_bytes()
        cache.clear()
        if json:
            out.document({"folder": str(cache.folder()), "freed_bytes": freed})
            return
        out.text(f"freed {freed / 1e6:.1f} MB in {cache.folder()}")
