"""asyncio tasks in every state; a line on the standard output when ready."""
import asyncio
import sys
import threading


async def sleeps():
    label = "sleeps"
    await asyncio.sleep(3600)
    return label


async def middle(depth):
    if depth:
        return await middle(depth - 1)
    return await sleeps()


async def waits_for(task):
    await task


async def handles():
    try:
        raise KeyError("handled")
    except KeyError:
        await asyncio.sleep(3600)


def reads():
    print("ready", flush=True)
    sys.stdin.read()


async def blocks():
    """The last task to run, so that all others wait by now."""
    other = threading.Thread(target=run_other, name="other", daemon=True)
    other.start()
    READY.wait()
    reads()


async def in_other():
    READY.set()
    await asyncio.sleep(3600)


def run_other():
    asyncio.run(in_other())


async def main():
    deep = asyncio.create_task(middle(3), name="deep")
    tasks = [deep, asyncio.create_task(waits_for(deep)),
             asyncio.create_task(handles(), name="h\xe9 \x1b[31m")]
    tasks += [asyncio.create_task(asyncio.sleep(3600))
              for _ in range(int(sys.argv[1]))]
    tasks.append(asyncio.create_task(blocks(), name="blocks"))
    await asyncio.wait(tasks)


READY = threading.Event()
asyncio.run(main())
