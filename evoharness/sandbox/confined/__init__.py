"""What runs inside the sandbox's own processes: standard library and RestrictedPython only.

The fork server imports this folder as a top-level package, so nothing here may import the rest of
evoharness. The host imports `framing` and `names` from it, and nothing else.
"""
