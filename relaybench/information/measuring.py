"""Measuring: what `relaybench measure` and `advise` do with a run, from its folder to what is printed."""

from __future__ import annotations

from collections.abc import Mapping as Known
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import structs
from pydantic import TypeAdapter, ValidationError

from relaybench.benchmarks.base import Benchmark, Keyed, Targeted, Task
from relaybench.build import make_benchmark, make_engine
from relaybench.config import AnyEngineConfig, RunConfig, TransformersConfig
from relaybench.engines.model import Model
from relaybench.errors import UserError
from relaybench.information.advice import Advice, advice_of
from relaybench.information.asking import Asker
from relaybench.information.cells import cells
from relaybench.information.instruments import Aim, Instruments, Say
from relaybench.information.mapping import Mapping, find
from relaybench.information.relay_loss import ranked
from relaybench.information.scorebook import Scorebook
from relaybench.information.stages import Stage, first_replies, stages
from relaybench.information.table import Measured
from relaybench.information.traces import read_traces
from relaybench.records import Relay
from relaybench.rollout.reading import StoredRun, read_run


async def measure(
    folder: Path,
    *,
    readers: Sequence[str] = (),
    reference: str | None = None,
    sample: int = 16,
    say: Say = lambda what, done, of: None,
) -> Measured:
    """Score what is missing and give the figures. `readers`, `reference`: engines of the run by their label, else
    models for transformers; by default the run's own engines, and the first of them as reference.

    Raises UserError where the run holds nothing to measure, or an engine gives no log-probabilities.
    """
    run = read_run(folder)
    names = list(readers) or list(engines_of(run))
    found, aims, source = judged(run)
    async with AsyncExitStack() as stack:
        askers = await askers_of(stack, engines_of(run), [*names, reference or names[0]])
        chosen = [askers[name] for name in names]
        instruments = Instruments(found, aims, chosen, askers[reference or names[0]], Scorebook(folder), sample)
        return await _measured(instruments, str(folder), source, _spent(run), say)


async def measure_traces(
    path: Path,
    mapping: Mapping,
    *,
    readers: Sequence[str],
    reference: str | None = None,
    sample: int = 16,
    out: Path | None = None,
    say: Say = lambda what, done, of: None,
) -> Measured:
    """The same for traces of another system. Scores are kept in `out` (default: beside the traces, in NAME.measures).

    Raises UserError where the mapping finds no stage, or nobody is named to read.
    """
    if not readers:
        raise UserError("traces name no engine to read them; add --readers, e.g. --readers smollm2-135m")
    found = find(read_traces(path, mapping.format), mapping)
    folder = out or path.with_name(f"{path.stem}.measures")
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        askers = await askers_of(stack, {}, [*readers, reference or readers[0]])
        chosen = [askers[name] for name in readers]
        told = [replace(item.stage, relays=_counted(item.stage, chosen[0])) for item in found]
        aims = {(item.stage.task, item.stage.worker): Aim((item.target,)) for item in found}
        instruments = Instruments(told, aims, chosen, askers[reference or readers[0]], Scorebook(folder), sample)
        source = f"field '{mapping.target}'" if mapping.target else "what the assistant says next"
        return await _measured(instruments, str(path), source, 0.0, say)


def _counted(stage: Stage, asker: Asker) -> tuple[Relay, ...]:
    """The relays with their rates in a reader's tokens."""
    count = Model(asker.engine).count
    return tuple(structs.replace(relay, rate_tokens=count(relay.text)) for relay in stage.relays)


async def _measured(instruments: Instruments, name: str, source: str, spent: float, say: Say) -> Measured:
    cost = await instruments.fill(say)
    noise = {reader.label: await instruments.noise(reader) for reader in instruments.readers}
    readers = tuple(noise)
    return Measured(name, instruments.reference.label, readers, source, cells(instruments), cost, noise, spent)


async def advise(
    folder: Path, *, reader: str | None = None, tasks: int = 8, say: Say = lambda what, done, of: None
) -> list[Advice]:
    """Advice for each stage of a run, from `tasks` of its tasks, for one model (default: the run's first engine).

    Raises UserError as `measure` does.
    """
    run = read_run(folder)
    name = reader or next(iter(engines_of(run)))
    found, aims, _ = judged(run)
    few = set(ranked(sorted({stage.task for stage in found}))[:tasks])
    async with AsyncExitStack() as stack:
        asker = (await askers_of(stack, engines_of(run), [name]))[name]
        chosen = [stage for stage in found if stage.task in few]
        instruments = Instruments(chosen, aims, [asker], asker, Scorebook(folder), sample=0)
        await instruments.fill(say, codes=False)
        return advice_of(instruments)


def judged(run: StoredRun) -> tuple[list[Stage], dict[tuple[str, str], Aim], str]:
    """Stages that can be judged, their aims, and where these are from. Raises UserError where there are none."""
    found = stages(run)
    aims, source = aims_of(run, found)
    judged = [stage for stage in found if stage.full is not None and (stage.task, stage.worker) in aims]
    if not judged:
        raise UserError(
            f"{run.path} holds nothing to measure: that takes MAS episodes with relays, SAS-contextflow of the same "
            "tasks, and a target (of the benchmark, or an episode that succeeded)"
        )
    return judged, aims, source


async def askers_of(
    stack: AsyncExitStack, known: Known[str, AnyEngineConfig], names: Sequence[str]
) -> dict[str, Asker]:
    """Started readers by name, of a known engine or else a model for transformers; they are closed with `stack`."""
    askers: dict[str, Asker] = {}
    for name in dict.fromkeys(names):
        config = known.get(name) or TransformersConfig(kind="transformers", model=name)
        engine = make_engine(config)
        stack.push_async_callback(engine.close)
        await engine.start()
        askers[name] = Asker(name, engine, config.adapter)
    return askers


def engines_of(run: StoredRun) -> dict[str, AnyEngineConfig]:
    """The engines of a run's config by label, in its order."""
    adapter: TypeAdapter[list[AnyEngineConfig]] = TypeAdapter(list[AnyEngineConfig])
    try:
        engines = adapter.validate_python(run.config.get("engines", []))
    except ValidationError:
        raise UserError(f"{run.path} was made with engines that this version does not know; use --readers") from None
    return {engine.label: engine for engine in engines}


def aims_of(run: StoredRun, found: Sequence[Stage]) -> tuple[dict[tuple[str, str], Aim], str]:
    """What each (task, worker) is judged by, and where that is from: the benchmark's truth where it can tell, else
    what the worker said first in episodes that succeeded."""
    benchmark = _benchmark(run)
    replies = first_replies(run)
    aims: dict[tuple[str, str], Aim] = {}
    tasks = {} if benchmark is None else {task.id: task for task in benchmark.tasks()}
    truthful = isinstance(benchmark, Targeted)
    for place in dict.fromkeys((stage.task, stage.worker) for stage in found):
        task = tasks.get(place[0])
        targets = replies.get(place, []) if not truthful else _truth(benchmark, task, place[1])
        if targets:
            aims[place] = Aim(tuple(targets), {} if task is None or benchmark is None else _values(benchmark, task))
    return aims, "ground truth" if truthful else "first replies of successful episodes"


def _truth(benchmark: object, task: Task | None, worker: str) -> list[str]:
    return benchmark.targets(task, worker) if isinstance(benchmark, Targeted) and task is not None else []


def _values(benchmark: Benchmark, task: Task) -> dict[str, str]:
    return benchmark.keys(task) if isinstance(benchmark, Keyed) else benchmark.needed(task)


def _benchmark(run: StoredRun) -> Benchmark | None:
    """The run's benchmark; None where its data is not here any more."""
    try:
        config = RunConfig.model_validate({key: run.config[key] for key in RunConfig.model_fields if key in run.config})
        benchmark = make_benchmark(config.benchmark)
    except (UserError, ValidationError):
        return None
    return benchmark if any(e.revision == benchmark.revision for e in run.episodes) else None


def _spent(run: StoredRun) -> float:
    """Wall seconds of all calls of the run's rollouts and relay encoders, each shared one once."""
    workers = {id(worker): worker for episode in run.episodes for worker in episode.workers}
    written = {msgspec.json.encode(r.encode_usage): r.encode_usage for e in run.episodes for r in e.relays}
    return sum(worker.usage.seconds for worker in workers.values()) + sum(u.seconds for u in written.values())
