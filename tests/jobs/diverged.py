"""Data-parallel training by gloo whose replicas come to differ, in one of
three ways, at step 4; then a checkpoint is written, and all wait for that.

    diverged.py drift|nan|shape|same FILE

Gradients are averaged, so a parameter that was changed on one rank stays as
far from the others'. The checkpoint is written when FILE is there.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn, optim

KIND, FILE = sys.argv[1:]
STEPS = 8


class Net(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words = nn.Embedding(words, 8)
        self.words.weight.requires_grad_(False)    # trained before
        self.register_buffer("center", torch.zeros(32))
        self.body = nn.Linear(32, 16)
        self.head = nn.Linear(24, 4)

    def forward(self, x, word):
        hidden = torch.relu(self.body(x - self.center))
        return self.head(torch.cat([hidden, self.words(word)], 1))


def load_batch(step, rank):
    torch.manual_seed(1000 * step + rank)
    return torch.randn(16, 32), torch.randint(0, 100, (16,))


def spoil(model, step, rank):
    if KIND == "drift" and (rank, step) == (3, 4):
        with torch.no_grad():
            model.body.weight[4, 7] += 1e-3    # a bit that flipped
    if KIND == "nan" and (rank, step) == (2, 4):
        model.center[7] = float("nan")    # read from a bad record


def average(gradients):
    """False: a rank has what is no number, and all leave this step out."""
    whole = torch.cat([each.flatten() for each in gradients])
    dist.all_reduce(whole)
    if not bool(torch.isfinite(whole).all()):
        return False
    whole /= dist.get_world_size()
    at = 0
    for each in gradients:
        each.copy_(whole[at:at + each.numel()].view_as(each))
        at += each.numel()
    return True


def write_checkpoint(rank):
    while rank == 0 and not os.path.exists(FILE):
        time.sleep(0.05)
    dist.barrier()


def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    # One of the vocabularies has a word more.
    model = Net(101 if KIND == "shape" and rank == 1 else 100)
    torch.manual_seed(1)
    for layer in (model.body, model.head):
        layer.reset_parameters()
    with torch.no_grad():
        model.words.weight[:] = torch.arange(8.) / 8
    optimizer = optim.SGD(filter(lambda each: each.requires_grad,
                                 model.parameters()), lr=0.1)
    for step in range(STEPS):
        x, word = load_batch(step, rank)
        loss = model(x, word).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        gradients = [each.grad for each in model.parameters()
                     if each.requires_grad]
        if average(gradients):
            optimizer.step()
        spoil(model, step, rank)
    write_checkpoint(rank)
    dist.destroy_process_group()


train()
