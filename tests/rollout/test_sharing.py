import asyncio

import pytest

from relaybench.engines.base import EngineError
from relaybench.records import FailedCall, Relay, Shared
from relaybench.rollout.sharing import Sharing


class Shelf(dict[str, Shared]):
    def shared(self, key: str) -> Shared | None:
        return self.get(key)

    def share(self, record: Shared) -> None:
        self[record.key] = record


def record(key: str, text: str = "hello") -> Shared:
    return Shared(key, relay=Relay(text, ("reader",), "writer", "report@1", len(text)))


class Maker:
    """Makes a record after `seconds`, and counts how often; fails while `failing`."""

    def __init__(self, seconds: float = 0.0, failing: int = 0) -> None:
        self.times = 0
        self.seconds = seconds
        self.failing = failing

    async def __call__(self) -> Shared:
        self.times += 1
        await asyncio.sleep(self.seconds)
        if self.times <= self.failing:
            raise EngineError("500", [FailedCall("500", 1.0)])
        return record("k", f"made {self.times}")


async def test_concurrent_users_wait_for_one_attempt() -> None:
    sharing, make = Sharing(Shelf(), 10), Maker()
    sharing.expect(["g"] * 3)
    got = await asyncio.gather(*(sharing.once("g", "k", make) for _ in range(3)))
    assert make.times == 1
    assert got == [record("k", "made 1")] * 3


async def test_what_is_stored_is_not_made_again() -> None:
    make = Maker()
    assert await Sharing(Shelf(k=record("k", "stored")), 10).once("g", "k", make) == record("k", "stored")
    assert make.times == 0


async def test_one_cancelled_user_does_not_cancel_the_others() -> None:
    sharing, make = Sharing(Shelf(), 10), Maker(0.02)
    first = asyncio.create_task(sharing.once("g", "k", make))
    second = asyncio.create_task(sharing.once("g", "k", make))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == record("k", "made 1")
    assert make.times == 1


async def test_a_failure_reaches_all_who_wait_but_its_attempts_are_counted_once_and_it_is_not_kept() -> None:
    sharing, make = Sharing(Shelf(), 10), Maker(failing=1)
    sharing.expect(["g"] * 3)
    errors = await asyncio.gather(*(sharing.once("g", "k", make) for _ in range(2)), return_exceptions=True)
    assert [len(error.failed_calls) for error in errors if isinstance(error, EngineError)] == [1, 0]
    assert await sharing.once("g", "k", make) == record("k", "made 2")


async def test_it_has_a_deadline_of_its_own() -> None:
    with pytest.raises(TimeoutError):
        await Sharing(Shelf(), 0.01).once("g", "k", Maker(60))


async def test_records_leave_memory_with_the_last_episode_of_their_group() -> None:
    shelf, make = Shelf(), Maker()
    sharing = Sharing(shelf, 10)
    sharing.expect(["g", "g"])
    await sharing.once("g", "k", make)
    shelf.clear()
    sharing.release("g")
    await sharing.once("g", "k", make)
    assert make.times == 1
    sharing.release("g")
    await sharing.once("g", "k", make)
    assert make.times == 2


async def test_a_visited_group_is_dropped_unless_its_own_episodes_are_to_come() -> None:
    shelf, make = Shelf(), Maker()
    sharing = Sharing(shelf, 10)
    with sharing.visit("g"):
        await sharing.once("g", "k", make)
    shelf.clear()
    sharing.expect(["g"])
    with sharing.visit("g"):
        await sharing.once("g", "k", make)
    shelf.clear()
    await sharing.once("g", "k", make)
    assert make.times == 2
