"""Three ranks of DeepSpeed's ZeRO."""
import sys
import time

import deepspeed
import torch
from zoo_job import ready


def main():
    what = sys.argv[1]
    deepspeed.init_distributed("gloo", auto_mpi_discovery=False)
    rank = torch.distributed.get_rank()
    model = torch.nn.Linear(8, 4)
    engine, _, _, _ = deepspeed.initialize(
        model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        config={"train_micro_batch_size_per_gpu": 2,
                "zero_optimization": {"stage": 1},
                "zero_allow_untested_optimizer": True})
    for step in range(6):
        if step == 3:
            ready()
            while what == "step" and rank == 1:
                time.sleep(1)  # asleep
        loss = engine(torch.ones(2, 8)).sum()
        engine.backward(loss)
        if what == "overflow" and step == 3 and rank == 2:
            deepspeed.comm.barrier()  # skips the step
        engine.step()  # step


main()
