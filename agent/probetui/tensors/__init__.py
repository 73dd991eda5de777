"""Tensors and arrays: shape, dtype etc., and statistics, hashes and values of
their elements, with the same results as the reader in backends/tensor. torch
and numpy are used only if the program has imported them, and no code of the
program runs: no __torch_function__, no property, no __repr__."""
