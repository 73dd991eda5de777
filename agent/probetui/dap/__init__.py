"""The Debug Adapter Protocol (DAP) over HTTP: clients use the debugger in
debugging/ by it. docs/agent-protocol.md describes the messages.

The package is imported by the first request that needs it.
"""
