def load_batch(step, rank):
    if rank == 3 and step == 3:
        while True:
            # storage went away
            time.sleep(1)
    return torch.randn(64, 32)
import time, torch, torch.distributed as dist; from torch import nn, optim
def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = nn.Linear(32, 8); opt = optim.SGD(model.parameters(), lr=0.1)
    for step in range(1000):
        x = load_batch(step, rank)
        loss = model(x).pow(2).mean()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
        opt.step(); opt.zero_grad()
train()
