import pytest

from relaybench.config import LossConfig, RelayConfig
from relaybench.relays.catalogue import encoder_name, make_encoder

LOSSES = {
    "drop(due_date)": LossConfig(drop=["due_date"]),
    "drop(25%)": LossConfig(drop_share=0.25),
    "mask(a,b)": LossConfig(mask=["a", "b"]),
    "shuffle()": LossConfig(shuffle=[]),
    "cut(32)": LossConfig(cut=32),
    "foreign": LossConfig(foreign=True),
}
BASES = {
    "report@1": RelayConfig(encoder="report"),
    "report@1(64)": RelayConfig(encoder="report", tokens=64),
    "truncate@1(first 9)": RelayConfig(encoder="truncate", keep="first", tokens=9),
    "truncate@1(last 9)": RelayConfig(encoder="truncate", tokens=9),
    "oracle@1": RelayConfig(encoder="oracle"),
    "none@1": RelayConfig(encoder="none"),
}


@pytest.mark.parametrize("name", BASES)
def test_every_setting_of_an_encoder_is_in_its_name(scene, name) -> None:
    _, materials = scene()
    assert make_encoder(BASES[name], materials).name == encoder_name(BASES[name]) == name


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("base", [name for name in BASES if name != "none@1"])
def test_names_compose(scene, base, loss) -> None:
    _, materials = scene()
    config = BASES[base].model_copy(update={"loss": LOSSES[loss]})
    encoder = make_encoder(config, materials)
    assert encoder.name == encoder_name(config) == f"{base}-{loss}"
    assert encoder.knows_target == base.startswith("oracle")


def test_padding_goes_around_the_loss(scene) -> None:
    _, materials = scene()
    config = RelayConfig(encoder="oracle", pad=8, loss=LossConfig(mask=["a"]))
    assert make_encoder(config, materials).name == encoder_name(config) == "oracle@1-mask(a)+pad(8)"
    assert config.label() == "oracle mask(a) +8"
    with pytest.raises(ValueError, match="'pad' is for encoder 'oracle'"):
        RelayConfig(encoder="report", pad=8)


async def test_a_foreign_relay_is_asked_for_without_its_own_loss(scene, read, writer) -> None:
    asked = []

    async def foreign(config, source, next_subtask):
        asked.append(config)
        return "t2", await make_encoder(config, materials).encode(read(materials.model), next_subtask)

    _, materials = scene("CARDS\n* x = 9", foreign=foreign)
    config = RelayConfig(encoder="report", tokens=50, loss=LossConfig(foreign=True))
    relay = await make_encoder(config, materials).encode(read(materials.model), writer)
    assert asked == [RelayConfig(encoder="report", tokens=50)]
    assert relay.foreign_task == "t2"
    assert relay.encode_usage.calls == 1
