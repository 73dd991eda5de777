#!/usr/bin/env python3
"""The last rank sleeps, the others wait in recv: by their system calls alone,
no library's name says so."""
import os
import socket
import time


def load():
    print("ready", flush=True)
    while True:
        time.sleep(3600)


def exchange(link):
    print("ready", flush=True)
    link.recv(1)


def main():
    if int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1:
        load()
    link, other = socket.socketpair()
    exchange(link)


main()
