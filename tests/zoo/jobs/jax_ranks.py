"""Two processes of jax."""
import os
import sys
import time

import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils
from zoo_job import ready


def main():
    rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize("127.0.0.1:%s" % os.environ["MASTER_PORT"],
                               count, rank)
    multihost_utils.sync_global_devices("start")
    multihost_utils.process_allgather(jnp.ones(2))
    ready()
    while rank == 1:
        time.sleep(1)  # late
    if sys.argv[1] == "sync":
        multihost_utils.sync_global_devices("end")
    multihost_utils.process_allgather(jnp.ones(2))  # gathers


main()
