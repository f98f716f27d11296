"""Which encoder a config's name means. To add one, write its file and name it here and in `config.RelayConfig`."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from relaybench.config import LossConfig, RelayConfig
from relaybench.engines.base import Engine
from relaybench.engines.model import Model
from relaybench.relays.base import Materials, RelayEncoder
from relaybench.relays.lossy import Cut, Drop, DropShare, Foreign, Mask, Shuffle
from relaybench.relays.none import Nothing
from relaybench.relays.oracle import Oracle
from relaybench.relays.padded import Padded
from relaybench.relays.report import Report
from relaybench.relays.truncate import Truncate

ENCODERS: dict[str, Callable[[RelayConfig, Materials], RelayEncoder]] = {
    "report": lambda config, materials: Report(materials, config.tokens),
    "truncate": lambda config, materials: Truncate(materials.model, config.tokens or 0, config.keep),
    "none": lambda config, materials: Nothing(),
    "oracle": lambda config, materials: Oracle(materials),
}

_NAMES_ALONE = Materials(Model(cast(Engine, None)))
"""Enough to make an encoder: none looks at its materials before it encodes."""


def make_encoder(config: RelayConfig, materials: Materials) -> RelayEncoder:
    """The encoder of one episode, its loss wrapped around it, and its padding around both."""
    encoder = ENCODERS[config.encoder](config, materials)
    if config.loss is not None:
        encoder = _lossy(encoder, config, config.loss, materials)
    return encoder if config.pad is None else Padded(encoder, config.pad, materials)


def encoder_name(config: RelayConfig) -> str:
    """The `name` of the encoder that `make_encoder` gives for this config: its part of the episode key."""
    return make_encoder(config, _NAMES_ALONE).name


def _lossy(base: RelayEncoder, config: RelayConfig, loss: LossConfig, materials: Materials) -> RelayEncoder:
    if loss.drop is not None:
        return Drop(base, loss.drop, materials)
    if loss.drop_share is not None:
        return DropShare(base, loss.drop_share, materials)
    if loss.mask is not None:
        return Mask(base, loss.mask, materials)
    if loss.shuffle is not None:
        return Shuffle(base, loss.shuffle, materials)
    if loss.cut is not None:
        return Cut(base, loss.cut, materials)
    return Foreign(base, config.model_copy(update={"loss": None, "pad": None}), materials)
