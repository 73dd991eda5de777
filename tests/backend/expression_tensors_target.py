"""A process that waits with tensors and arrays in a frame, and what Python
says of expressions over them: as expressions_target.py. Argument: the library.
"""
import json
import os
import sys

NUMPY = """
reals[0] == 1.5; reals[-1] == 3.5; reals[1] > 2; reals[3]; reals[0] < reals[1]
grid[1, 2] == 5; grid[0, 0] == 0; grid[-1, -1] == 5; grid[1, 3]; grid.shape[0] == 2
grid.shape == (2, 3); len(grid) == 2; len(grid.shape) == 2; grid.ndim == 2
turned[2, 1] == 5; turned.shape == (3, 2); every[1] == 2; back[0] == 5
point.shape == (); point.item() == 7; one.item() == 9; grid.item() == 1
single[0] == 0.5; single[1] == single[1]; single[0] == 1; single[0] in (0.5, 2)
wholes[0] == -1; wholes[0] < 0; wholes[1] == 127; bytes_[0] == 255; flags[0]
not flags[1]; flags[0] == True; huge[0] == 18446744073709551615
scalar == 3; scalar > 2.5; scalar == 3.0; double == 0.1
double != 0.2; double; halves[0] == 0.5; grid.dtype is dtype; single[0].item() == 0.5
single[1].item() == 0.1; single[1].item() != 0.1; scalar.item() == 3
reals is reals; reals is not None; small in (5, 6)
double in [0.1]; nans[0] != nans[0]; nans[0] < 1; infinite[0] > 1e308
objects_ is not None; 0.5 == single[0]; 3 == scalar; 1 < scalar < 5
"""

NUMPY_REFUSED = """
single[1] == 0.1 :: compare .item()
reals == 1.5 :: comparing a whole numpy.ndarray is not supported
reals :: the truth value of a whole numpy.ndarray
grid[0] == 1 :: is not supported without an agent: compare .item()
grid[0, 0, 0] == 1 :: too many indices
reals['a'] :: must be an integer
reals[1.0] :: must be an integer
reals[3] :: out of range
objects_[0] == 1 :: is not supported without an agent: compare .item()
swapped[0] == 1 :: is not supported without an agent: compare .item()
sub[0] == 1 :: a subclass of a tensor or array, without an agent
len(point) :: cannot be read
grid.T :: truth value of a whole
1 in reals :: cannot search an object of
huge[0] > 5.5 :: compare .item()
scalar + 0 == 3 :: is not supported without an agent: use .item()
-scalar == -3 :: is not supported without an agent: use .item()
reals.dtype == dtype_real :: code of the class would run in the process
"""

TORCH = """
loss.item() == 0.5; loss.item() < 1; loss.item() + 1 == 1.5; loss.shape == ()
grid[1, 2] == 5; grid[-1, 0] == 3; grid[1, 3]; grid.shape == (2, 3); len(grid) == 2
grid.shape[1] == 3; grid.ndim == 2; grid.dtype is torch.float32
grid.dtype == torch.float32; grid.dtype != torch.int64; longs.dtype is torch.int64
grid.dtype is torch.float64; turned[2, 1] == 5; turned.shape == (3, 2)
every[1] == 2; longs[0] == -5; longs[1] == 9007199254740993; longs[0] < 0
flags[0].item() is True; flags[1].item(); half[0] == 0.5; brain[0] == 1.5
brain[1].item() == 0.10009765625; half[1].item() == 0.0999755859375
double[0] == 0.1; grid.grad is None; weight.grad is None; weight.grad is not None
weight.grad[0] == 2.0; plain.grad is None; leaf.grad is None; weight.shape == (3,)
net.weight.shape == (2, 3); net.bias[0] == 0.25; net.weight.grad is None
net.training; net.inner.weight.shape[0] == 2; net.buffer[0] == 7; net.in_features == 3
model.layers['0'] is None; octets[0] == 255; one.item() == 9; loss is loss
loss is not None; grid[0, 1] < grid[0, 2]; deep.shape == (1, 1, 1, 1, 1, 1, 2)
deep[0, 0, 0, 0, 0, 0, 1] == 4; loss.item() is None; empty.shape == (0, 4)
len(empty) == 0; net.bias.shape[0] == 2; device is not None
"""

TORCH_REFUSED = """
grid == 1 :: comparing a whole torch.Tensor is not supported
grid :: the truth value of a whole torch.Tensor
grid.item() :: not a single number
brain[1] == 0.1 :: compare .item()
grid[0] == 1 :: is not supported without an agent: compare .item()
complexes[0] == 1 :: is not supported without an agent: compare .item()
meta[0] == 1 :: is on device meta
net.nothing :: its __getattr__ would run in the process
net(1) :: a call would run code
grid.mean().item() :: a call would run code
grid.T :: truth value of a whole
sub[0] == 1 :: a subclass of a tensor or array, without an agent
nested.item() == 1 :: supported only on tensors
"""


def split(text):
    for line in text.strip().splitlines():
        for expression in line.split("; "):
            yield expression.strip()


def judge(expression, scope):
    try:
        return int(bool(eval(expression, globals(), scope)))
    except Exception as error:
        return type(error).__name__


def tell(text, refused, scope):
    scope = dict(scope)
    print(json.dumps({
        "pid": os.getpid(),
        "truths": {
            "arrays": [[expression, judge(expression, scope)]
                       for expression in split(text)],
            "refused": [line.split(" :: ")
                        for line in refused.strip().splitlines()],
        }}), flush=True)
    sys.stdin.read()
    os._exit(0)


def numpy_arrays():
    import numpy

    class Sub(numpy.ndarray):
        pass

    reals = numpy.array([1.5, 2.5, 3.5])
    grid = numpy.arange(6).reshape(2, 3)
    turned, every, back = grid.T, grid[0, ::1][::1], numpy.arange(6)[::-1]
    every = numpy.arange(6)[::2]
    point, one = numpy.array(7), numpy.array([9])
    single = numpy.array([0.5, 0.1], "f4")
    wholes, bytes_ = numpy.array([-1, 127], "i1"), numpy.array([255], "u1")
    flags, huge = numpy.array([True, False]), numpy.array([2 ** 64 - 1], "u8")
    scalar, double, small = numpy.int32(3), numpy.float64(0.1), numpy.int8(5)
    halves, nans = numpy.array([0.5], "f2"), numpy.array([float("nan")])
    infinite, dtype, dtype_real = numpy.array([float("inf")]), grid.dtype, \
        reals.dtype
    objects_, swapped = numpy.array([1], "O"), numpy.array([1], ">i4")
    sub = reals.view(Sub)
    tell(NUMPY, NUMPY_REFUSED, locals())
    return (reals, grid, turned, every, back, point, one, single, wholes,
            bytes_, flags, huge, scalar, double, small, halves, nans, infinite,
            dtype, dtype_real, objects_, swapped, sub)


def torch_tensors():
    import torch

    class Sub(torch.Tensor):
        pass

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(3, 2)
            self.weight = torch.nn.Parameter(torch.zeros(2, 3))
            self.bias = torch.nn.Parameter(torch.full((2,), 0.25))
            self.register_buffer("buffer", torch.tensor([7.0]))
            self.in_features = 3

    loss = torch.tensor(0.5)
    grid = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    turned, every = grid.T, torch.arange(6)[::2]
    longs = torch.tensor([-5, 2 ** 53 + 1])
    flags, half = torch.tensor([True, False]), torch.tensor([0.5, 0.1]).half()
    brain = torch.tensor([1.5, 0.1]).bfloat16()
    double = torch.tensor([0.1], dtype=torch.float64)
    weight = torch.ones(3, requires_grad=True)
    (weight * 2).sum().backward()
    leaf, plain = torch.ones(3, requires_grad=True), torch.ones(3)
    net, octets = Net(), torch.tensor([255], dtype=torch.uint8)
    one, empty = torch.tensor([[9.0]]), torch.zeros(0, 4)
    deep = torch.tensor([3.0, 4.0]).reshape(1, 1, 1, 1, 1, 1, 2)
    device, nested = grid.device, [1]
    complexes, meta = torch.zeros(2, dtype=torch.complex64), \
        torch.zeros(2, device="meta")
    sub = torch.zeros(2).as_subclass(Sub)
    tell(TORCH, TORCH_REFUSED, locals())
    return (loss, grid, turned, every, longs, flags, half, brain, double,
            weight, leaf, plain, net, octets, one, empty, deep, device, nested,
            complexes, meta, sub)


{"numpy": numpy_arrays, "torch": torch_tensors}[sys.argv[1]]()
