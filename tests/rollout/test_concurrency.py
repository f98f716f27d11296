import asyncio

from relaybench.records import FailedCall
from relaybench.rollout.concurrency import START, AdaptiveLimit

BUSY = [FailedCall("429 Too Many Requests")]


def good(limit: AdaptiveLimit, calls: int) -> None:
    for _ in range(calls):
        limit.observe()


def test_it_starts_small_and_doubles_each_window_up_to_the_ceiling() -> None:
    limit = AdaptiveLimit(64)
    assert limit.limit == START
    good(limit, START)
    assert limit.limit == 2 * START
    good(limit, 1000)
    assert limit.limit == 64


def test_a_small_ceiling_is_never_passed() -> None:
    limit = AdaptiveLimit(3)
    good(limit, 100)
    assert limit.limit == 3


def test_pressure_costs_a_fifth_and_growth_is_one_a_window_from_then_on() -> None:
    limit = AdaptiveLimit(100)
    good(limit, 92)
    assert limit.limit == 100
    limit.observe(BUSY)
    assert limit.limit == 80
    good(limit, 80)  # the window of grace: calls that were in flight when it was cut
    assert limit.limit == 80
    good(limit, 81)
    assert limit.limit == 81


def test_many_errors_in_one_window_cut_once() -> None:
    limit = AdaptiveLimit(100)
    good(limit, 92)
    for _ in range(50):
        limit.observe(BUSY)
    assert limit.limit == 80


def test_a_lost_call_halves_it_and_it_stays_at_least_one() -> None:
    limit = AdaptiveLimit(8)
    limit.observe(lost=True)
    assert limit.limit == 4
    for _ in range(100):
        limit.observe(lost=True)
    assert limit.limit == 1


def test_errors_that_are_not_pressure_leave_it() -> None:
    limit = AdaptiveLimit(64)
    limit.observe([FailedCall("500 Internal Server Error")])
    assert limit.limit >= START


async def test_no_more_than_the_limit_hold_a_place_and_growth_lets_waiters_in() -> None:
    limit = AdaptiveLimit(20)
    inside: list[int] = []

    async def enter(number: int) -> None:
        await limit.acquire()
        inside.append(number)

    tasks = [asyncio.create_task(enter(i)) for i in range(20)]
    await asyncio.sleep(0)
    assert len(inside) == START
    good(limit, 2)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(inside) == START + 2
    for _ in range(10):
        limit.release()
    await asyncio.gather(*tasks)
    assert len(inside) == 20
