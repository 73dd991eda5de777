"""Ray Train's workers; one is stuck."""
import sys
import time

import ray
import torch
import torch.distributed as dist
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model
from zoo_job import ready


def load(what):
    while True:
        time.sleep(1)  # stuck


def loop(config):
    model = prepare_model(torch.nn.Linear(8, 1))
    for step in range(6):
        if step == 3:
            ready()
            if dist.get_rank() == 1 and config["what"] == "step":
                load(config["what"])
            if dist.get_rank() == 0 and config["what"] == "report":
                dist.barrier()  # reports
        model(torch.ones(4, 8)).sum().backward()  # backward


def remote(what):
    """A task that others wait for with ray.get()."""
    @ray.remote
    def work(number):
        if number == 1:
            ready()
            while True:
                time.sleep(1)  # task
        return number
    ray.get([work.remote(number) for number in range(2)])  # gets


if __name__ == "__main__":
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    if sys.argv[1] == "task":
        remote(sys.argv[1])
    TorchTrainer(loop, train_loop_config={"what": sys.argv[1]},
                 scaling_config=ScalingConfig(num_workers=3)).fit()
