"""The base of every typed config."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Base of all configs: immutable, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
