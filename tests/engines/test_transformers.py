"""The transformers engine says what the bare model says, whatever it shares a pass with."""

# ruff: noqa: E402  (without torch the module is skipped before it imports what needs torch)
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

torch = pytest.importorskip("torch", reason="no torch: run `scripts/install cpu`")
pytest.importorskip("transformers", reason="no transformers: run `scripts/install cpu`")

from relaybench.config import TransformersConfig
from relaybench.engines.base import ContextFull, EngineError, Request, ScoreRequest
from relaybench.engines.batcher import Batcher, Call
from relaybench.engines.causal import CausalModel
from relaybench.engines.decoding import Decoder
from relaybench.engines.model import Model
from relaybench.engines.transformers import TransformersEngine
from relaybench.errors import UserError
from relaybench.records import Context, Decoding

PROMPTS = [list(range(3 + i, 3 + i + length)) for i, length in enumerate([5, 40, 9, 77, 12, 1, 30, 64, 21, 3, 50, 8])]


def config(folder: Path, **settings: Any) -> TransformersConfig:
    base = {"kind": "transformers", "model": str(folder), "dtype": "float32", "device": "cpu", "call_timeout": 3600}
    return TransformersConfig.model_validate(base | settings)


def ask(prompt: Sequence[int], tokens: int = 8, seed: int = 0, adapter: str | None = None, **decoding: Any) -> Request:
    return Request((), tuple(prompt), Decoding(**decoding), tokens, seed=seed, adapter=adapter)


@pytest_asyncio.fixture
async def engine(tiny_folder: Path) -> AsyncIterator[TransformersEngine]:
    made = TransformersEngine(config(tiny_folder, batch_size=4))
    await made.start()
    yield made
    await made.close()


@pytest.fixture(scope="session")
def bare(tiny_folder: Path) -> Any:
    """The same model without engine, batch or cache."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(tiny_folder, dtype=torch.float32).eval()


def logprobs_of(bare: Any, ids: Sequence[int]) -> Any:
    """Row t: log-probabilities of the token after ids[: t + 1]; one whole forward pass."""
    with torch.no_grad():
        return bare(torch.tensor([list(ids)])).logits[0].float().log_softmax(-1)


def greedy(bare: Any, prompt: Sequence[int], tokens: int, end: int) -> list[int]:
    """Independent of the engine: the whole sequence again for every token."""
    ids = list(prompt)
    for _ in range(tokens):
        ids.append(int(logprobs_of(bare, ids)[-1].argmax()))
        if ids[-1] == end:
            break
    return ids[len(prompt) :]


@contextmanager
def counting(model: Any) -> Iterator[list[tuple[int, int]]]:
    """(tokens that entered, logit rows that left) of every forward pass."""
    entered: list[int] = []
    passes: list[tuple[int, int]] = []
    hooks = [
        model.get_input_embeddings().register_forward_hook(lambda _m, args, _o: entered.append(args[0].numel())),
        model.get_output_embeddings().register_forward_hook(
            lambda _m, args, _o: passes.append((entered[-1], args[0].shape[:-1].numel()))
        ),
    ]
    yield passes
    for hook in hooks:
        hook.remove()


def model_of(engine: TransformersEngine) -> Any:
    """The loaded model behind an engine."""
    assert engine._batcher is not None
    decoder = engine._batcher._decoder
    assert isinstance(decoder, Decoder)
    return decoder._causal.model


async def test_together_or_alone_it_says_what_the_bare_model_says(engine: TransformersEngine, bare: Any) -> None:
    together = await asyncio.gather(*(engine.generate(ask(prompt, 3 + i)) for i, prompt in enumerate(PROMPTS)))
    for i, (prompt, answer) in enumerate(zip(PROMPTS, together, strict=True)):
        expected = greedy(bare, prompt, 3 + i, bare.config.eos_token_id)
        assert list(answer.token_ids or ()) == expected
        assert answer.finish == ("stop" if expected[-1] == bare.config.eos_token_id else "length")
        assert answer.usage.prompt_tokens + answer.usage.cached_tokens == len(prompt)
        assert answer.usage.generated_tokens == len(expected)
    again = await engine.generate(ask(PROMPTS[3], 6))
    assert again.token_ids == (together[3].token_ids or ())[:6]


def test_calls_meet_in_one_pass_and_a_full_one_takes_no_more(tiny_folder: Path) -> None:
    decoder = Decoder(CausalModel.load(config(tiny_folder)), batch_size=3)
    with counting(decoder._causal.model) as passes:
        for prompt in PROMPTS[:3]:
            assert decoder.takes(ask(prompt))
            assert decoder.begin(Call(ask(prompt, 8))) is None
        assert not decoder.takes(ask(PROMPTS[3]))
        decoder.step()
    assert passes == [(5, 1), (40, 1), (9, 1), (3, 3)]


async def test_the_next_turn_computes_its_new_tokens_only(engine: TransformersEngine, bare: Any) -> None:
    first = await engine.generate(ask(PROMPTS[3], 10))
    prompt = [*PROMPTS[3], *(first.token_ids or ()), 200, 201, 202]
    with counting(model_of(engine)) as passes:
        second = await engine.generate(ask(prompt, 4))
    known = len(PROMPTS[3]) + len(first.token_ids or ()) - 1  # the last token was said, not read
    assert second.usage.cached_tokens == known
    assert second.usage.prompt_tokens == len(prompt) - known == passes[0][0]
    assert list(second.token_ids or ()) == greedy(bare, prompt, 4, bare.config.eos_token_id)


async def test_prompts_that_share_a_beginning_compute_it_once(engine: TransformersEngine) -> None:
    shared = PROMPTS[7]
    answers = await asyncio.gather(*(engine.generate(ask([*shared, 100 + i, 7], 2)) for i in range(4)))
    assert sorted(a.usage.cached_tokens for a in answers) == [0, 64, 64, 64]
    whole = await engine.generate(ask([*shared, 100, 7], 1))
    assert (whole.usage.prompt_tokens, whole.usage.cached_tokens) == (1, 65)


async def test_a_seed_gives_the_same_sample_in_any_company(engine: TransformersEngine) -> None:
    settings: dict[str, Any] = {"temperature": 1.0, "top_p": 0.95}
    alone = [await engine.generate(ask(PROMPTS[1], 12, seed=i, **settings)) for i in range(3)]
    others = [engine.generate(ask(prompt, 9, seed=99, **settings)) for prompt in PROMPTS[5:9]]
    mixed = await asyncio.gather(*(engine.generate(ask(PROMPTS[1], 12, seed=i, **settings)) for i in range(3)), *others)
    assert [a.token_ids for a in mixed[:3]] == [a.token_ids for a in alone]
    assert len({a.token_ids for a in alone}) == 3


async def test_top_p_leaves_the_smallest_sufficient_set(engine: TransformersEngine, bare: Any) -> None:
    probabilities = logprobs_of(bare, PROMPTS[4])[-1].exp().sort(descending=True)
    reach = int((probabilities.values.cumsum(-1) < 0.3).sum()) + 1
    allowed = set(probabilities.indices[:reach].tolist())
    said = [await engine.generate(ask(PROMPTS[4], 1, seed=i, temperature=1.0, top_p=0.3)) for i in range(40)]
    assert {ids for answer in said for ids in answer.token_ids or ()} <= allowed


async def test_logprobs_are_those_of_the_bare_model(engine: TransformersEngine, bare: Any) -> None:
    answer = await engine.generate(ask(PROMPTS[2], 6, seed=3, temperature=0.8, logprobs=True))
    ids = answer.token_ids or ()
    rows = logprobs_of(bare, [*PROMPTS[2], *ids])[len(PROMPTS[2]) - 1 :]
    assert answer.logprobs == pytest.approx([float(rows[t][i]) for t, i in enumerate(ids)], abs=1e-4)


async def test_a_stop_string_ends_the_turn_before_it(engine: TransformersEngine) -> None:
    assert engine.chat is not None
    free = await engine.generate(ask(PROMPTS[0], 12))
    middle = len(free.text) // 2
    stop = free.text[middle : middle + 2]
    stopped = await engine.generate(ask(PROMPTS[0], 12, stop=(stop,)))
    assert (stopped.text, stopped.finish) == (free.text[: free.text.index(stop)], "stop")
    ids = stopped.token_ids or ()
    assert ids == (free.token_ids or ())[: len(ids)]
    assert stop in engine.chat.decode(ids)


async def test_a_turn_ends_with_its_end_token(tiny_folder: Path, bare: Any) -> None:
    causal = CausalModel.load(config(tiny_folder))
    said = greedy(bare, PROMPTS[0], 6, -1)
    decoder = Decoder(replace(causal, ends=frozenset({said[3]})), batch_size=2)
    batcher = Batcher(decoder)
    answer = await asyncio.wrap_future(batcher.generate(ask(PROMPTS[0], 6)))
    batcher.close()
    expected = said[: said.index(said[3]) + 1]
    assert (list(answer.token_ids or ()), answer.finish) == (expected, "stop")


async def test_scores_are_those_of_a_whole_forward_pass(engine: TransformersEngine, bare: Any) -> None:
    shared = PROMPTS[7]
    contexts = [shared, shared, shared[:30], [*shared, 9, 8], [5], shared, [*shared, 9]]
    targets = [[7, 8, 9], [11], [250, 3], list(range(40, 60)), [1, 2], [], [8, 8, 8, 8]]
    found = await engine.score([ScoreRequest(c, t) for c, t in zip(contexts, targets, strict=True)])
    for context, target, logprobs in zip(contexts, targets, found, strict=True):
        rows = logprobs_of(bare, [*context, *target])[len(context) - 1 :]
        assert logprobs == pytest.approx([float(rows[t][i]) for t, i in enumerate(target)], abs=1e-4)


async def test_scoring_reads_a_shared_context_once_and_makes_only_target_logits(engine: TransformersEngine) -> None:
    context = PROMPTS[3]
    with counting(model_of(engine)) as passes:
        await engine.score([ScoreRequest([*context, 100 + i], [7, 8, 9]) for i in range(6)])
    assert sum(tokens for tokens, _ in passes) <= len(context) + 6 * 4
    assert max(rows for _, rows in passes) == 3


async def test_what_does_not_fit_is_refused(engine: TransformersEngine) -> None:
    assert engine.context_limit == 512
    with pytest.raises(ContextFull, match="513 tokens exceed 512"):
        await engine.generate(ask([3] * 505, 8))
    with pytest.raises(ContextFull):
        await engine.score([ScoreRequest([3] * 510, [1, 2, 3])])
    fits = await engine.generate(ask([3] * 504, 8))
    assert fits.usage.prompt_tokens == 504


async def test_the_config_bounds_the_context(tiny_folder: Path) -> None:
    engine = TransformersEngine(config(tiny_folder, max_context=64))
    await engine.start()
    with pytest.raises(ContextFull):
        await engine.generate(ask(PROMPTS[3]))
    await engine.close()


async def test_a_cancelled_call_leaves_the_others_alone(engine: TransformersEngine, bare: Any) -> None:
    calls = [asyncio.ensure_future(engine.generate(ask(prompt, 40))) for prompt in PROMPTS[:4]]
    await asyncio.sleep(0.01)
    calls[0].cancel()
    rest = await asyncio.gather(*calls[1:])
    for prompt, answer in zip(PROMPTS[1:4], rest, strict=True):
        assert list(answer.token_ids or ()) == greedy(bare, prompt, 40, bare.config.eos_token_id)
    assert (await engine.generate(ask(PROMPTS[0], 2))).usage.generated_tokens == 2


async def test_a_failed_pass_fails_its_calls_and_not_the_engine(engine: TransformersEngine) -> None:
    def out_of_memory(*_: Any) -> None:
        raise RuntimeError("DefaultCPUAllocator: not enough memory\nmore lines")

    hook = model_of(engine).register_forward_pre_hook(out_of_memory)
    with pytest.raises(EngineError, match="^DefaultCPUAllocator: not enough memory$") as caught:
        await engine.generate(ask(PROMPTS[0]))
    hook.remove()
    assert len(caught.value.failed_calls) == 1
    assert (await engine.generate(ask(PROMPTS[0]))).finish


async def test_a_call_that_takes_too_long_is_given_up(tiny_folder: Path) -> None:
    engine = TransformersEngine(config(tiny_folder, call_timeout=0.001))
    await engine.start()
    with pytest.raises(EngineError, match="timeout after 0.001 s") as caught:
        await engine.generate(ask(PROMPTS[3], 400))
    assert caught.value.failed_calls[0].error.startswith("timeout")
    await engine.close()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "smolm2-135m"}, "did you mean 'smollm2-135m'"),
        ({"device": "cuda:7"}, "set device: cpu"),
        ({"adapter": "a-v1", "adapter_dir": "/nowhere"}, "peft|not an adapter folder"),
    ],
)
async def test_what_cannot_be_loaded_is_told(tiny_folder: Path, settings: dict[str, Any], told: str) -> None:
    base = config(tiny_folder).model_dump()
    with pytest.raises(UserError, match=told):
        await TransformersEngine(TransformersConfig.model_validate({**base, **settings})).start()


async def test_an_unknown_adapter_is_told(engine: TransformersEngine) -> None:
    with pytest.raises(UserError, match="no adapter 'relay-v1' is loaded"):
        await engine.generate(ask(PROMPTS[0], adapter="relay-v1"))


@pytest.mark.skipif(find_spec("peft") is None, reason="no peft: run `scripts/install train`")
async def test_an_adapter_changes_its_own_calls_only(tiny_folder: Path, bare: Any, tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    model = get_peft_model(
        AutoModelForCausalLM.from_pretrained(tiny_folder), LoraConfig(r=4, target_modules=["q_proj", "v_proj"])
    )
    model.save_pretrained(tmp_path / "zero")
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.normal_(0, 0.5)
    model.save_pretrained(tmp_path / "a")
    with pytest.raises(UserError, match="changes nothing"):
        await TransformersEngine(config(tiny_folder, adapter="a-v1", adapter_dir=tmp_path / "zero")).start()
    engine = TransformersEngine(config(tiny_folder, adapter="a-v1", adapter_dir=tmp_path / "a"))
    await engine.start()
    names = [None, "a-v1", None, "a-v1"]
    answers = await asyncio.gather(*(engine.generate(ask(PROMPTS[1], 6, adapter=name)) for name in names))
    scores = await engine.score([ScoreRequest(PROMPTS[1], [5, 6], name) for name in names[:2]])
    await engine.close()
    end = bare.config.eos_token_id
    assert list(answers[0].token_ids or ()) == list(answers[2].token_ids or ()) == greedy(bare, PROMPTS[1], 6, end)
    tuned = model.eval()
    assert list(answers[1].token_ids or ()) == list(answers[3].token_ids or ()) == greedy(tuned, PROMPTS[1], 6, end)
    assert scores[0] == pytest.approx([float(logprobs_of(bare, PROMPTS[1])[-1][5]), scores[0][1]], abs=1e-4)
    assert scores[1] == pytest.approx([float(logprobs_of(tuned, PROMPTS[1])[-1][5]), scores[1][1]], abs=1e-4)


@pytest.mark.model
async def test_smollm2_finds_a_number_and_batches_as_it_answers_alone() -> None:
    people = {"Ada": "4821", "Bo": "3377", "Cy": "9045", "Di": "1268"}

    async def asked(batch_size: int) -> list[tuple[str, tuple[int, ...] | None]]:
        engine = TransformersEngine(config(Path("smollm2-135m"), batch_size=batch_size))
        await engine.start()
        model, contexts = Model(engine), [Context(name) for name in people]
        for context, (name, number) in zip(contexts, people.items(), strict=True):
            fact = f"The number of {name} is {number}. What is the number of {name}?"
            context.append(model.message(context, "user", fact))
        replies = await asyncio.gather(*(model.reply(context, max_tokens=16) for context in contexts))
        await engine.close()
        return [(message.content, message.token_ids) for message, _ in replies]

    together, alone = await asked(4), await asked(1)
    assert together == alone
    assert [number in said for (said, _), number in zip(alone, people.values(), strict=True)] == [True] * 4
