"""Breakpoints, steps and stops inside of the process: engine.py.

Imported by the first request that debugs; until then it costs nothing.
"""
