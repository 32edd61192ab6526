"""Tools that a person promoted with `export`; a run never writes here.

A tool is `<name>.py` with `def tool(memory, **arguments)`, read as text and never imported, and
`<name>.json`, its manifest (`evoharness.records.tool`). `python -m evoharness.solver test <name>.py VIDEO`
runs its tests on the memory of a video.
"""
