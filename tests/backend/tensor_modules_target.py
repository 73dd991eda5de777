"""A module, an optimizer and tensors of torch, and what they are in truth.

It prints "{}" where there is no torch, else the truth: of expressions
[dtype, shape, strides, storage offset, crc32]; of lists of parameters
[name, kind, crc32]; then it stays until its input ends.
"""
import ctypes
import json
import sys
import zlib

EXPRESSIONS = """
x
x[0]
x[-1]
x[1, 2]
x[:, 1]
x[1:3, ::2]
x[..., 5]
x[None, 2]
x[-100:100]
x[4:2]
x.T
x.T[1:, 0]
x.data
batch["x"][0][2:]
cube.mT
cube[1].T
model.seq[0].weight
model.seq[-1].bias
model.many[0].weight
model.named["a"].bias
model.parts["k"]
model.parts["k"][1]
compiled[0].fc.weight
compiled[0]._orig_mod.seq[0].bias
model.fc.weight
model.fc.weight[0]
model.fc.weight.grad
model.fc.weight.grad[0, 1:]
model.bn.running_mean
wrapped.module.fc.bias
optimizer.state[p]["exp_avg"]
optimizer.state[model.fc.weight]["exp_avg_sq"]
optimizer.param_groups[0]["params"][0]
ordered["one"]
default["two"]
brains
flags
"""
REFUSED = """
model(x) :: would run code
x.sum() :: would run code
x[[0, 1]] :: indices would run code
x[x] :: indices would run code
x[7] :: out of range
x[0, 0, 0] :: too many indices
x[::-1] :: negative step
x[::0] :: cannot be zero
x.mean :: cannot read attribute 'mean' of
model.fc.nothing :: its __getattr__ would run in the process
default["three"] :: key not found
model.seq[9] :: out of range
turning[0].nothing :: nested compiled modules
"""


def crc(tensor):
    tensor = tensor.detach().contiguous()
    size = tensor.numel() * tensor.element_size()
    return "%08x" % zlib.crc32(ctypes.string_at(tensor.data_ptr(), size)
                               if size else b"")


def tell(tensor):
    return [str(tensor.dtype).replace("torch.", ""), list(tensor.shape),
            list(tensor.stride()), tensor.storage_offset(), crc(tensor)]


def of_module(module, prefix="", seen=None):
    """As PyTorch walks: what a module has, then its children."""
    seen = set() if seen is None else seen
    for name, child in module.named_modules():
        for kind, own in (("parameter", child._parameters),
                          ("buffer", child._buffers)):
            for key, value in own.items():
                if value is None or id(value) in seen:
                    continue
                seen.add(id(value))
                yield [prefix + ".".join(filter(None, [name, key])), kind,
                       crc(value)]


def of_optimizer(optimizer):
    import torch
    numbers = {}
    for i, group in enumerate(optimizer.param_groups):
        for j, value in enumerate(group["params"]):
            numbers[id(value)] = len(numbers)
            yield ["param_groups[%d].params[%d]" % (i, j), "parameter",
                   crc(value)]
    for value, state in optimizer.state.items():
        for key, part in state.items():
            if isinstance(part, torch.Tensor):
                yield ["state[%d].%s" % (numbers[id(value)], key), "buffer",
                       crc(part)]


def main():
    import collections

    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 3)
            self.bn = nn.BatchNorm1d(3)
            self.seq = nn.Sequential(nn.Linear(3, 3, bias=True), nn.ReLU(),
                                     nn.Linear(3, 2))
            self.tied = self.fc
            self.shared = nn.Linear(4, 3, bias=False)
            self.shared.weight = self.fc.weight
            self.many = nn.ModuleList([nn.Linear(2, 2)])
            self.named = nn.ModuleDict({"a": nn.Linear(1, 1)})
            self.register_buffer("own", torch.arange(5))
            self.parts = nn.ParameterDict({"k": nn.Parameter(torch.ones(3))})
            self.register_parameter("none", None)

    class Wrapped(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module
            module.fc.cycle = [module]

    model = Net()
    wrapped = Wrapped(model)
    optimizer = torch.optim.Adam(
        [{"params": list(model.seq.parameters())},
         {"params": list(model.fc.parameters()), "lr": 0.5}], lr=0.1)
    for turn in range(2):
        model.seq(model.bn(model.fc(torch.randn(5, 4)))).sum().backward()
        if turn == 0:
            optimizer.step()
            for each in model.parameters():
                each.grad = None
    p = model.fc.weight
    x = torch.arange(24.0).reshape(4, 6)
    cube = torch.randn(2, 3, 4)
    batch = {"x": [x, {"y": 7}]}
    ordered = collections.OrderedDict(one=x * 2)
    default = collections.defaultdict(list, two=x * 3)
    brains, flags = torch.randn(7).bfloat16(), x > 3
    deep = [[[x]]]
    compiled = [torch.compile(model)] if hasattr(torch, "compile") else []
    turning = [torch.compile(model) for _ in range(2 * len(compiled))]
    for one, other in zip(turning, turning[::-1]):
        one._modules["_orig_mod"] = other
    both = {"net": model.seq, "pair": (x, [cube])}
    both["self"] = both
    pair = [1, 2]
    settings = {"lr": 0.5, "none": None, "sizes": [1, [2, "a"], x], "f": print,
                "long": "x" * 1000, "empty": {}, "pair": [pair, pair],
                "twice": (x, x)}
    truth = {"lists": {
        "model": list(of_module(model)),
        "wrapped": list(of_module(wrapped)),
        "optimizer": list(of_optimizer(optimizer)),
        "both": list(of_module(model.seq, "['net'].")) + [
            ["['pair'][0]", "parameter", crc(x)],
            ["['pair'][1][0]", "parameter", crc(cube)]],
    }}
    scope = dict(locals())
    truth["tensors"] = {}
    # What looks at a gradient last, so that Python has not seen the others.
    for text in EXPRESSIONS.split("\n"):
        if text.startswith("compiled") and not compiled:
            continue
        if text and "grad" not in text:
            truth["tensors"][text] = tell(eval(text, scope))
    long = repr(settings["long"])
    truth["values"] = [
        ["['lr']", "0.5"], ["['none']", "None"], ["['sizes']", "[1, _, _]"],
        ["['sizes'][1]", "[2, 'a']"], ["['sizes'][2]", None], ["['f']", None],
        ["['long']", "%s\u2026 (1002 bytes, crc32 %08x)" % (
            long[:59], zlib.crc32(long.encode()))], ["['empty']", "{}"],
        ["['pair'][0]", "[1, 2]"], ["['pair'][1]", "[1, 2]"],
        ["['twice'][0]", None], ["['twice'][1]", None]]
    truth["gradients"] = [name for name, value in model.named_parameters()
                          if name.startswith(("fc", "bn", "seq"))]
    truth["refused"] = [line.split(" :: ")
                        for line in REFUSED.strip().split("\n")
                        if compiled or not line.startswith("turning")]
    print(json.dumps(truth), flush=True)
    for line in sys.stdin:
        truth = {text: tell(eval(text, scope))
                 for text in EXPRESSIONS.split("\n") if "grad" in text}
        print(json.dumps(truth), flush=True)
    return deep


try:
    import torch as _  # noqa: F401
except ImportError:
    print("{}", flush=True)
else:
    main()
