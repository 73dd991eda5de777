import os, sys, time, torch, torch.distributed as dist
from torch import nn, optim

def load_batch(step, rank):
    while rank == 5 and step == 3 and not os.path.exists(sys.argv[1]):
        time.sleep(0.5)    # the storage went away
    torch.manual_seed(1000 * step + rank)
    return torch.randn(64, 32)

def reduce_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()

def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = nn.Linear(32, 8)
    opt = optim.SGD(model.parameters(), lr=0.1)
    for step in range(12):
        x = load_batch(step, rank)
        if step == 4 and "IPDB_DEBUG" in os.environ:
            import probetui; probetui.set_trace()
        loss = model(x).pow(2).mean()
        loss.backward()
        reduce_gradients(model)
        opt.step(); opt.zero_grad()
    said = "result %d %.6f\n" % (rank, model.weight.detach().double().norm())
    os.write(1, said.encode())
    # On a busy machine torch 2.13 aborts one exit of a hundred ("terminate called without an
    # active exception"), with and without destroy_process_group(), and without probetui.
    os._exit(0)

train()
