"""MovieLens ratings: `user,item,rating,time` or `user::item::rating::time` on each line, perhaps after a line of names.

Users and items are numbered from 0 in the order of their ids.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pantograf.graphs.build import Array
from pantograf.graphs.formats import text
from pantograf.graphs.formats.edges import EdgeList

_BLANKS = bytes.maketrans(b",:", b"  ")


def read(path: Path) -> EdgeList:
    """Ratings as float32."""
    tables: list[Array] = []
    with text.Lines(path) as lines:
        for block, first in lines.blocks():
            body = block[block.index(b"\n") :] if first == 1 and block[:1].isalpha() else block
            read = text.numbers(body.translate(_BLANKS), True)
            if read is None or not np.isin(read.per_line(), (0, 4)).all():
                for number, line in enumerate(block.split(b"\n"), first):
                    found = text.numbers(line.translate(_BLANKS) + b"\n", True)
                    if (number > 1 or not line[:1].isalpha()) and (found is None or found.values.size not in (0, 4)):
                        lines.fail("expected user, item, rating and time", number, line)
            assert read is not None
            tables.append(read.values.reshape(-1, 4)[:, :3])
    table = np.concatenate(tables) if tables else np.empty((0, 3))
    users, row = np.unique(table[:, 0], return_inverse=True)
    items, column = np.unique(table[:, 1], return_inverse=True)
    return EdgeList(
        row,
        column + users.size,
        table[:, 2].astype(np.float32),
        users.size + items.size,
        undirected=True,
        bipartite=users.size,
    )
