"""Calls functions in a tight loop, in two chains only: a0 to a9, b0 to b9.

Each is called by the one before on the line below its def, a0 and b0 by
work(); sample-probe knows these rules. With an argument N, N threads do so.
"""
import sys
import threading


def a9():
    return 1
def a8():
    return a9()
def a7():
    return a8()
def a6():
    return a7()
def a5():
    return a6()
def a4():
    return a5()
def a3():
    return a4()
def a2():
    return a3()
def a1():
    return a2()
def a0():
    return a1()
def b9():
    return 2
def b8():
    return b9()
def b7():
    return b8()
def b6():
    return b7()
def b5():
    return b6()
def b4():
    return b5()
def b3():
    return b4()
def b2():
    return b3()
def b1():
    return b2()
def b0():
    return b1()
def work():
    while True:
        a0()
        b0()


for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
work()
