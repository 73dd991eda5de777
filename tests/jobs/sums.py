"""sums.py: a gloo job whose result says whether it ran undisturbed.

Each rank adds up what all of them computed. It says "ready" and goes on until
the input of rank 0 ends. Then each rank says "done", the steps it made, its
result, and that of the same steps made by itself alone, in one go.
"""
import select
import sys

import torch
import torch.distributed as dist


def batch(step, rank):
    generator = torch.Generator().manual_seed(1000 * step + rank)
    return torch.randn(16, 8, generator=generator)


def forward(model, data):
    hidden = data @ model
    return hidden.pow(2).mean()


def compute(model, step, rank):
    loss = forward(model, batch(step, rank))
    loss.backward()
    gradient = model.grad.clone()
    model.grad.zero_()
    return gradient


class Training:
    def __init__(self):
        self.model = torch.full((8, 4), 0.25, requires_grad=True)
        self.total = torch.zeros(1, dtype=torch.float64)
        self.step = 0

    def apply(self, gradient):
        with torch.no_grad():
            self.model -= 0.01 * gradient
        self.total += gradient.double().sum() * (self.step % 7 + 1)
        self.step += 1

    def result(self):
        return "%.17g" % (self.total + self.model.double().sum()).item()


def is_over(rank):
    over = rank == 0 and select.select([sys.stdin], [], [], 0)[0] != []
    flag = torch.tensor([int(over)])
    dist.all_reduce(flag)
    return flag.item() > 0


def train(rank):
    training = Training()
    while not is_over(rank):
        gradient = compute(training.model, training.step, rank)
        dist.all_reduce(gradient)
        training.apply(gradient)
    return training


def train_alone(steps, world):
    training = Training()
    for step in range(steps):
        gradient = sum(compute(training.model, step, rank)
                       for rank in range(world))
        training.apply(gradient)
    return training


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    print("ready", flush=True)
    training = train(dist.get_rank())
    alone = train_alone(training.step, dist.get_world_size())
    print("done", training.step, training.result(), alone.result(), flush=True)
    dist.destroy_process_group()


main()
