"""Starts the ranks of a job but one, without a launcher, and waits for them:
by_hand.py PORT COUNT ABSENT PROGRAM ARGUMENTS..."""
import os
import subprocess
import sys

port, count, absent = sys.argv[1:4]
ranks = [subprocess.Popen(sys.argv[4:], env=dict(
    os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=count,
    MASTER_ADDR="127.0.0.1", MASTER_PORT=port))
    for rank in range(int(count)) if rank != int(absent)]
for each in ranks:
    each.wait()
