"""Tensors and arrays: what they are, and of their elements statistics,
hashes and single numbers, as they are read from outside as well. torch and
numpy are only used where the program has loaded them, and nothing of the
program runs for it: no __torch_function__, no property, no __repr__."""
