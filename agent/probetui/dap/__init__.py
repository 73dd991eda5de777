"""The Debug Adapter Protocol over HTTP, for clients of debugging/.

Imported by the first request that needs it.
"""
