"""What a client of DAP debugs. It runs once `going` is set, and to its end
once `is_over` is."""
import sys
import threading

import probetui

going = threading.Event()
is_over = False


def inner(number, seen):
    square = number * number  # here it stops
    seen.append(square)
    return square


def outer(count):
    total = 0
    seen = []
    for number in range(count):
        total += inner(number, seen)  # it was called here
    return total, seen


def fail(text):
    try:
        int(text)  # here it raises
    except ValueError as error:
        return str(error)


def spin():
    turns = 0
    while not is_over:
        turns += 1
    return turns > 0


def main():
    print(probetui.listen()[0], flush=True)
    going.wait()
    print(outer(5), fail("nonsense"), spin(), sys.gettrace(), flush=True)


main()
