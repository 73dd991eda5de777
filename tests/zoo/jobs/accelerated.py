"""Three ranks of accelerate."""
import sys
import time

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from zoo_job import ready


def main():
    what = sys.argv[1]
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(8, 4)
    model, optimizer, loader = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=0.1),
        DataLoader(torch.ones(96, 8), batch_size=4))
    for step, batch in enumerate(loader):
        loss = model(batch).sum()
        accelerator.backward(loss)  # backward
        optimizer.step()
        if step == 3:
            ready()
            if what == "main_only" and accelerator.is_main_process:
                accelerator.wait_for_everyone()  # main only
            if what == "metrics" and accelerator.process_index != 1:
                accelerator.gather_for_metrics(loss)  # gathers
            if what == "first":
                with accelerator.main_process_first():
                    while accelerator.is_main_process:
                        time.sleep(1)  # tokenizes
    accelerator.wait_for_everyone()  # end


main()
