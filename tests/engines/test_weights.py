"""A model name becomes a folder or a hub name, or is told with what is near."""

from __future__ import annotations

from pathlib import Path

import pytest

from relaybench.engines import weights
from relaybench.engines.weights import resolve_model
from relaybench.errors import UserError


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder with one model in it."""
    monkeypatch.setenv("RELAYBENCH_MODELS", str(tmp_path / "models"))
    folder = tmp_path / "models" / "qwen2.5-0.5b"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return folder.parent


def test_folders_kept_models_and_hub_names(models: Path, tmp_path: Path) -> None:
    kept = models / "qwen2.5-0.5b"
    assert resolve_model("qwen2.5-0.5b") == str(kept)
    assert resolve_model(str(kept)) == str(kept)
    assert resolve_model("Qwen/Qwen2.5-0.5B-Instruct") == "Qwen/Qwen2.5-0.5B-Instruct"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("qwen2.5-0.5B", "did you mean 'qwen2.5-0.5b'"),
        ("smollm2", "did you mean 'smollm2-135m'"),
        ("./models/lost", "no model './models/lost'; here are: qwen2.5-0.5b, smollm2-135m"),
        ("/no/such/folder", "give a folder, or a hub name"),
        ("~/lost", "give a folder, or a hub name"),
    ],
)
def test_unknown_names_are_told_with_what_is_near(models: Path, name: str, told: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve_model(name)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_model_is_told(models: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no config.json"):
        resolve_model(str(tmp_path))


def test_a_missing_package_is_told(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_PACKAGE", "a-package-that-is-not-there")
    with pytest.raises(UserError, match="scripts/install cpu"):
        resolve_model("smollm2-135m")
    assert not (models / "smollm2-135m").exists()


@pytest.mark.parametrize(
    ("error", "mend"),
    [
        (OSError("no space left on device"), "no space left.*make room"),
        (ImportError("cannot import name 'GgufConfig'"), "GgufConfig.*scripts/install cpu"),
        (ValueError("Unrecognized\nand more"), r"ValueError: Unrecognized\); install"),
    ],
)
def test_a_conversion_that_fails_leaves_nothing_and_says_why(
    models: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, mend: str
) -> None:
    def fail(gguf: Path, folder: Path) -> None:
        (folder / "model.safetensors").write_bytes(b"half")
        raise error

    monkeypatch.setattr(weights, "_packaged_gguf", lambda: Path("some.gguf"))
    monkeypatch.setattr(weights, "_dequantise", fail)
    with pytest.raises(UserError, match=mend):
        resolve_model("smollm2-135m")
    assert [p.name for p in models.iterdir()] == ["qwen2.5-0.5b"]


def test_a_conversion_is_made_once_and_said(
    models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(weights, "_packaged_gguf", lambda: Path("some.gguf"))
    monkeypatch.setattr(weights, "_dequantise", lambda gguf, folder: (folder / "config.json").write_text("{}"))
    first = resolve_model("smollm2-135m")
    assert "converting smollm2-135m" in capsys.readouterr().err
    assert resolve_model("smollm2-135m") == first == str(models / "smollm2-135m")
    assert capsys.readouterr().err == ""
    assert sorted(p.name for p in models.iterdir()) == ["qwen2.5-0.5b", "smollm2-135m"]


@pytest.mark.model
def test_the_default_model_loads_with_a_chat_template() -> None:
    from transformers import AutoConfig, AutoTokenizer

    folder = resolve_model("smollm2-135m")
    assert AutoConfig.from_pretrained(folder).num_hidden_layers == 30
    assert "<|im_start|>" in AutoTokenizer.from_pretrained(folder).chat_template
