"""The tool that A.4 of the paper describes: entities of a type in the segments of a time interval."""

import json

SOURCE = """\
def tool(memory, start, end, kind):
    count = 0
    for segment in memory.segments():
        if segment["start"] < end and segment["end"] > start:
            entities = memory.records(segment["id"])["entities"]
            count += len([entity for entity in entities if entity["kind"] == kind])
    return count
"""
MANIFEST = json.dumps(
    {
        "signature": {
            "start": "number: seconds",
            "end": "number: seconds",
            "kind": "text: person, object, location or group",
        },
        "purpose": "count the entities of a type in the segments that a time interval touches",
        "kinds": ["counting", "entities_attributes"],
        "tests": [
            {"arguments": {"start": 10, "end": 20, "kind": "person"}, "at_least": 0},
            {"arguments": {"start": 10, "end": 20, "kind": "object"}, "type": "integer"},
            {"arguments": {"start": 0, "end": 0, "kind": "object"}, "equals": 0},
        ],
    },
    indent=2,
)
FILES = {"count_entities.py": SOURCE, "count_entities.json": MANIFEST}
