def load_batch(step, rank):
    if rank == 3 and step == 3:
        while True:
            # storage went away
            time.sleep(1)
    return [random.random() for _ in range(32)]
import random, time, peers as dist
def train():
    dist.init_process_group()
    rank = dist.get_rank()
    model = [0.5] * 32
    for step in range(1000):
        x = load_batch(step, rank)
        loss = sum(w * v for w, v in zip(model, x)) ** 2
        grads = [2 * loss * v for v in x]
        for part in (grads[:16], grads[16:]):
            dist.all_reduce(part)
        model = [w - 0.001 * g for w, g in zip(model, grads)]
train()
