"""Several jobs at once get equal shares of the searches and pages that are under way."""

from __future__ import annotations

import asyncio

from suyuan.research.fair_slots import FairSlots


async def test_a_small_job_does_not_wait_for_all_of_a_large_one() -> None:
    slots, order, go_on = FairSlots(2), list[str](), asyncio.Event()

    async def work(job: str) -> None:
        async with slots.slot(job):
            await go_on.wait()
            order.append(job)

    # The large job has taken both places and waits for eight more before the small one comes.
    tasks = [asyncio.create_task(work("large")) for _ in range(10)]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(work("small")) for _ in range(3)]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*tasks)
    assert order[:2] == ["large", "large"] and order[2:8].count("small") == 3
    assert order.count("large") == 10


async def test_a_place_of_one_who_gives_up_goes_to_the_next() -> None:
    slots = FairSlots(1)
    async with slots.slot("one"):
        waits = asyncio.create_task(slots.slot("two").__aenter__())
        await asyncio.sleep(0)
        waits.cancel()
    async with asyncio.timeout(30), slots.slot("three"):
        pass
