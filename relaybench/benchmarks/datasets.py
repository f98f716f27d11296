"""The data store: benchmark data that relaybench may not ship, got from its official source or from a folder.

Each benchmark has a folder in $RELAYBENCH_DATA (default: `relaybench/data` in the user's cache). Its `manifest.json` is
written last: a folder with a manifest is whole, one without is not there. Files appear under their names only after
they were checked, so a killed fetch leaves nothing wrong behind and the next one goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import platformdirs
from msgspec import Struct, structs

from relaybench.benchmarks.download import Downloader
from relaybench.benchmarks.pins import FirstSeen, file_digest
from relaybench.benchmarks.sources import SOURCES, Source, SourceFile
from relaybench.errors import UserError, nearest

MANIFEST = "manifest.json"
Say = Callable[[str], None]


class FileRecord(Struct, frozen=True):
    """One file as it was when its folder was made whole."""

    path: str
    size: int  # bytes
    sha256: str
    checked: str  # how: the pin's `kind`
    identity: str  # hex digest; equal for copies that differ in nothing that matters


class Dataset(Struct, frozen=True):
    """A benchmark's data as it lies in the store: what the manifest holds, and where."""

    name: str
    folder: str
    origin: str  # where it was got from
    revision: str  # 12 hex digits over the files' identities; part of every episode's key
    files: tuple[FileRecord, ...]

    def __str__(self) -> str:
        kinds = Counter(file.checked for file in self.files)
        checks = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        size = _megabytes(sum(file.size for file in self.files))
        return f"{self.name} {self.revision}: {len(self.files)} files, {size} in {self.folder} ({checks})"


class Listing(Struct, frozen=True):
    """One line of `relaybench data list`."""

    name: str
    title: str
    licence: str
    size: int  # bytes to download
    state: str  # "ready", "absent" or "damaged"
    folder: str

    def __str__(self) -> str:
        return f"{self.name:14} {self.state:8} {_megabytes(self.size):>8}  {self.title} ({self.licence})  {self.folder}"


def data_root() -> Path:
    """The store's folder: $RELAYBENCH_DATA, or the user's cache."""
    named = os.environ.get("RELAYBENCH_DATA")
    return Path(named).expanduser() if named else platformdirs.user_cache_path("relaybench") / "data"


def list_datasets(*, root: Path | None = None) -> list[Listing]:
    """Every benchmark that has data to get, and whether it is here."""
    listings = []
    for source in SOURCES.values():
        folder = _folder(source, root)
        manifest = _manifest(folder)
        state = "absent" if manifest is None else "damaged" if _damage(source, manifest) else "ready"
        listings.append(Listing(source.name, source.title, source.licence, source.size, state, str(folder)))
    return listings


def fetch(
    name: str, *, root: Path | None = None, downloader: Downloader | None = None, say: Say = lambda line: None
) -> Dataset:
    """Get a benchmark's data from its official source; files that are here and right are kept.

    `say` is told each step. Raises UserError when a file cannot be had or is not what it must be.
    """
    source, net = _source(name), downloader or Downloader()
    say(f"{name}: {len(source.files)} files, {_megabytes(source.size)}, {source.licence}")

    def get(file: SourceFile, target: Path) -> None:
        if file.url is None:
            raise UserError(
                f"no address serves {name}'s {file.path} as it is; make a folder with all its files and run "
                f"`relaybench data import {name} DIR`. {source.origin}"
            )
        say(f"{file.path} ({file.size:,} bytes) from {net.address(file.url)}")
        net.get(file.url, target, say)

    return _obtain(source, _folder(source, root), get, net.mirror or "official source")


def import_folder(name: str, directory: str | Path, *, root: Path | None = None) -> Dataset:
    """Copy a benchmark's data from a folder that has our layout; checked as a download is.

    Raises UserError when a file is missing there, or is not what it must be.
    """
    source, origin = _source(name), Path(directory).expanduser()
    if not origin.is_dir():
        raise UserError(f"no folder {origin}; name the one that holds {source.files[0].path} and the other files")
    absent = [file.path for file in source.files if not (origin / file.path).is_file()]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise UserError(f"{origin} has no {absent[0]}{more}; name the folder that holds the {name} data")

    def get(file: SourceFile, target: Path) -> None:
        shutil.copyfile(origin / file.path, target)

    return _obtain(source, _folder(source, root), get, str(origin.resolve()))


def verify(name: str, *, root: Path | None = None) -> Dataset:
    """Read every file again and check it against its pin and the manifest. Raises UserError for the first wrong one."""
    source, manifest = _source(name), _ready(name, root)
    seen = {record.path: record.sha256 for record in manifest.files}
    for file in source.files:
        path = Path(manifest.folder, file.path)
        _check(file, path, seen[file.path], f"mend it with `relaybench data fetch {name}`")
    return manifest


def data_dir(name: str, *, root: Path | None = None) -> Path:
    """The folder of a benchmark's data. Raises UserError when it is not there, or files of it are missing or cut."""
    return Path(_ready(name, root).folder)


def data_revision(name: str, *, root: Path | None = None) -> str:
    """What identifies the data that results were made with. Raises UserError when it is not there."""
    return _ready(name, root).revision


def _ready(name: str, root: Path | None) -> Dataset:
    source = _source(name)
    manifest = _manifest(_folder(source, root))
    if manifest is None:
        raise UserError(
            f"no data for '{name}'; get it with `relaybench data fetch {name}` or `relaybench data import {name} DIR`"
        )
    if damage := _damage(source, manifest):
        raise UserError(f"data for '{name}' is damaged: {damage}; mend it with `relaybench data fetch {name}`")
    return manifest


def _source(name: str) -> Source:
    if name not in SOURCES:
        known = nearest(name, SOURCES) or f"; there are: {', '.join(SOURCES)}"
        raise UserError(f"no benchmark '{name}' with data to get{known}")
    return SOURCES[name]


def _folder(source: Source, root: Path | None) -> Path:
    return (root or data_root()) / source.name


def _obtain(source: Source, folder: Path, get: Callable[[SourceFile, Path], None], origin: str) -> Dataset:
    """Make `folder` whole: each file got beside its place, checked, moved there; then the manifest."""
    manifest = _manifest(folder)
    seen = {record.path: record.sha256 for record in manifest.files} if manifest else {}
    try:
        records = tuple(_obtain_file(file, folder / file.path, seen.get(file.path), get) for file in source.files)
        dataset = Dataset(source.name, str(folder), origin, _revision(records), records)
        partial = folder / f".{MANIFEST}.{os.getpid()}"
        partial.write_bytes(msgspec.json.format(msgspec.json.encode(dataset)) + b"\n")
        _sync(partial)
        partial.replace(folder / MANIFEST)
    except OSError as error:
        raise UserError(f"cannot fill {folder} ({error}); set RELAYBENCH_DATA to a folder with room") from error
    return dataset


def _obtain_file(
    file: SourceFile, target: Path, seen: str | None, get: Callable[[SourceFile, Path], None]
) -> FileRecord:
    mend = "try again; if it stays so, the source has changed or is altered on its way: import another copy"
    if target.is_file() and (seen or not isinstance(file.pin, FirstSeen)):
        try:
            return _check(file, target, seen, mend)
        except UserError:
            pass  # a wrong file is replaced below
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        get(file, partial)
        record = _check(file, partial, seen, mend)
        _sync(partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return record


def _check(file: SourceFile, path: Path, seen: str | None, mend: str) -> FileRecord:
    """The record of the file at `path`. Raises UserError when it is not what its pin (or its first copy) says."""
    digest = file_digest(path)
    if wrong := file.pin.wrong(path, digest, seen):
        raise UserError(f"{file.path} is not the file it must be: {wrong}; {mend}")
    return FileRecord(file.path, path.stat().st_size, digest, file.pin.kind, file.pin.identity(digest))


def _revision(records: tuple[FileRecord, ...]) -> str:
    # a licence text may change its line ends, and results do not hang on it
    lines = [f"{record.path} {record.identity}\n" for record in records if not record.path.startswith("LICENSE")]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


def _damage(source: Source, manifest: Dataset) -> str:
    """What a look at the folder (no reading of files) finds wrong, or ""."""
    recorded = {record.path: record.size for record in manifest.files}
    for file in source.files:
        path = Path(manifest.folder, file.path)
        if file.path not in recorded:
            return f"{file.path} is not in its manifest (another version made it)"
        if not path.is_file():
            return f"{file.path} is missing"
        if (size := path.stat().st_size) != recorded[file.path]:
            return f"{file.path} has {size:,} bytes, not {recorded[file.path]:,}"
    return ""


def _manifest(folder: Path) -> Dataset | None:
    """The folder's manifest; None where there is none that this version can read."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Dataset)
    except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
        return None
    return structs.replace(manifest, folder=str(folder))  # the store may have been moved


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
