"""The Debug Adapter Protocol over HTTP, for clients of debugging/:
docs/agent-protocol.md has what travels.

Imported by the first request that needs it.
"""
