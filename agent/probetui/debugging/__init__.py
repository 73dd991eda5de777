"""Breakpoints, steps and stops inside of the process; begin with engine.py.

The package is imported by the first request that debugs; before that, it costs
nothing.
"""
