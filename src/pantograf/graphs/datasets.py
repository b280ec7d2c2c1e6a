"""Graphs by name: files in local folders, and the papers' graphs, which are downloaded once.

`PANTOGRAF_DATA` names folders (separated as in PATH) that are searched first for NAME with a graph's suffix. No
checksum in the table is known yet: such a download has to be asked for with `verify=False`, and its checksum is then
kept beside it and holds from there on. Addresses and licences are as the authors of this table remember them.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pantograf.errors import UserError
from pantograf.graphs import formats
from pantograf.graphs.csr import Graph

Kind = Literal["social", "web", "road", "mesh", "circuit", "e-mail", "purchases", "words", "ratings", "citations"]


@dataclass(frozen=True)
class DataSet:
    """A published graph: where it is, how its file is read, and what may be done with it."""

    name: str
    kind: Kind
    url: str | None
    suffix: str
    """Which reader its file needs."""
    licence: str
    used_by: str
    sha256: str | None = None
    member: str | None = None
    """The file inside an archive."""
    undirected: bool = False
    """The file has each edge once and does not say so."""
    compact: bool = False
    """Its ids have gaps."""


_SNAP = "SNAP: citation asked, no explicit licence"
_SUITE_SPARSE = "SuiteSparse Matrix Collection: CC BY 4.0"
_DIMACS9 = "ninth DIMACS challenge, from US Census TIGER: public domain"
_MOVIELENS = "GroupLens: research use, no redistribution"


def _suite_sparse(name: str, group: str, kind: Kind, used_by: str) -> DataSet:
    url = f"https://suitesparse-collection-website.herokuapp.com/MM/{group}/{name}.tar.gz"
    return DataSet(name, kind, url, ".mtx", _SUITE_SPARSE, used_by, member=f"{name}/{name}.mtx")


def _snap(name: str, path: str, kind: Kind, used_by: str, undirected: bool = False) -> DataSet:
    return DataSet(
        name,
        kind,
        f"https://snap.stanford.edu/data/{path}",
        ".el",
        _SNAP,
        used_by,
        undirected=undirected,
        compact=undirected,
    )


def _dimacs9(name: str, used_by: str) -> DataSet:
    url = f"http://www.diag.uniroma1.it/challenge9/data/USA-road-d/{name}.gr.gz"
    return DataSet(name, "road", url, ".gr", _DIMACS9, used_by)


def _movielens(name: str, archive: str, member: str, used_by: str) -> DataSet:
    url = f"https://files.grouplens.org/datasets/movielens/{archive}"
    return DataSet(name, "ratings", url, "movielens", _MOVIELENS, used_by, member=member)


TABLE: dict[str, DataSet] = {
    entry.name: entry
    for entry in (
        _snap("orkut", "bigdata/communities/com-orkut.ungraph.txt.gz", "social", "PolyGraph orkut, UGC OK", True),
        _snap("soc-LiveJournal1", "soc-LiveJournal1.txt.gz", "social", "PolyGraph LiveJournal, UGC LJ"),
        _snap("twitter", "twitter-2010.txt.gz", "social", "PolyGraph twitter"),
        _snap("soc-pokec", "soc-pokec-relationships.txt.gz", "social", "UGC PK"),
        DataSet(
            "soc-twitter-2010",
            "social",
            "https://nrvis.com/download/data/soc/soc-twitter-2010.zip",
            ".mtx",
            "Network Repository: citation asked",
            "UGC TW",
            member="soc-twitter-2010.mtx",
        ),
        DataSet(
            "soc-sinaweibo",
            "social",
            "https://nrvis.com/download/data/soc/soc-sinaweibo.zip",
            ".mtx",
            "Network Repository: citation asked",
            "UGC SW",
            member="soc-sinaweibo.mtx",
        ),
        _suite_sparse("hollywood-2009", "LAW", "social", "UGC HW"),
        _suite_sparse("indochina-2004", "LAW", "web", "PolyGraph indochina, UGC IC"),
        _suite_sparse("road_usa", "DIMACS10", "road", "UGC RU"),
        _suite_sparse("road_central", "DIMACS10", "road", "UGC RC"),
        _snap("roadNet-CA", "roadNet-CA.txt.gz", "road", "UGC RN, FLIP California"),
        _dimacs9("USA-road-d.E", "PolyGraph rdUSE"),
        _dimacs9("USA-road-d.W", "PolyGraph rdUSW"),
        _movielens("mlens", "ml-10m.zip", "ml-10M100K/ratings.dat", "PolyGraph mlens"),
        _movielens("big-mlens", "ml-25m.zip", "ml-25m/ratings.csv", "PolyGraph big-mlens"),
        DataSet(
            "cora",
            "citations",
            "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz",
            ".el",
            "LINQS: citation asked",
            "PolyGraph cora",
            member="cora/cora.cites",
            undirected=True,
            compact=True,
        ),
        DataSet("pubmed", "citations", None, ".npz", "LINQS: citation asked", "PolyGraph pubmed"),
        _suite_sparse("amazon0505", "SNAP", "purchases", "coherence AMZ"),
        _suite_sparse("dictionary28", "Pajek", "words", "coherence DCT"),
        _suite_sparse("email-EuAll", "SNAP", "e-mail", "coherence EML"),
        _suite_sparse("olesnik0", "GHS_indef", "mesh", "coherence OLS"),
        _suite_sparse("rajat27", "Rajat", "circuit", "coherence RAJ"),
        _suite_sparse("wing", "DIMACS10", "mesh", "coherence WNG"),
        DataSet("SF-road", "road", None, ".npz", "Li, spatial data sets: citation asked", "FLIP San Francisco"),
    )
}


def folders() -> list[Path]:
    """The local folders, as `PANTOGRAF_DATA` names them."""
    return [Path(part).expanduser() for part in os.environ.get("PANTOGRAF_DATA", "").split(os.pathsep) if part]


def local() -> dict[str, Path]:
    """The graph files of the local folders by name; the first folder that has a name wins."""
    found: dict[str, Path] = {}
    for folder in folders():
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if formats.format_of(path) is not None and not path.name.endswith((".coords.npz", ".features.npz")):
                found.setdefault(formats.stem(path), path)
    return found


def names() -> list[str]:
    """Every name that can be asked for."""
    return sorted({*local(), *TABLE})


def load(name: str, /, *, verify: bool = True, **options: Any) -> Graph:
    """The data set called `name`, from a local folder or downloaded; `options` are those of `formats.read`."""
    if (path := local().get(name)) is not None:
        return formats.read(path, **options)
    entry = find(name)
    known = {"suffix": entry.suffix, "undirected": entry.undirected, "compact": entry.compact, "name": entry.name}
    return formats.read(download(entry, verify=verify), **{**known, **options})


def find(name: str) -> DataSet:
    """The entry of the table."""
    if name not in TABLE:
        close = difflib.get_close_matches(name, names(), 3)
        hint = f"did you mean {', '.join(close)}?" if close else "`pantograf list graphs` shows the names"
        raise UserError(f"there is no data set {name!r}", hint=hint)
    return TABLE[name]


def download(entry: DataSet, *, verify: bool = True) -> Path:
    """The data set's file in the cache, fetched if it is not there."""
    import pooch

    if entry.url is None:
        raise UserError(
            f"{entry.name} is published in no form that can be read directly",
            hint=f"put {entry.name}{entry.suffix} into a folder that PANTOGRAF_DATA names",
        )
    folder = Path(os.environ.get("PANTOGRAF_CACHE", "") or pooch.os_cache("pantograf")) / "graphs"
    fetched = folder / f"{entry.name}-{entry.url.rsplit('/', 1)[-1]}"
    kept = fetched.with_name(fetched.name + ".sha256")
    checksum = entry.sha256 or (kept.read_text().strip() if kept.exists() and fetched.exists() else None)
    if checksum is None and verify:
        raise UserError(
            f"no checksum of {entry.name} is known, so a download from {entry.url} cannot be verified",
            hint=f"`pantograf graph fetch {entry.name} --trust` (verify=False) trusts it once; "
            "or put the file into a folder that PANTOGRAF_DATA names",
        )
    pooch.get_logger().setLevel("WARNING")
    try:
        pooch.retrieve(entry.url, None if checksum is None else f"sha256:{checksum}", fetched.name, folder)
    except (OSError, ValueError) as error:
        raise UserError(
            f"cannot fetch {entry.name} from {entry.url}: {error}", hint=f"licence: {entry.licence}"
        ) from None
    if checksum is None:
        with fetched.open("rb") as file:
            kept.write_text(hashlib.file_digest(file, "sha256").hexdigest() + "\n")
    return fetched if entry.member is None else _unpacked(fetched, entry)


def _unpacked(archive: Path, entry: DataSet) -> Path:
    """The archive's member, unpacked beside it."""
    import pooch

    assert entry.member is not None
    kind = pooch.Unzip if archive.suffix == ".zip" else pooch.Untar
    try:
        return Path(kind(members=[entry.member])(str(archive), "fetch", None)[0])
    except (KeyError, IndexError, OSError) as error:
        raise UserError(f"{archive} has no {entry.member}: {error}") from None
