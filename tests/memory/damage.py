"""Answers of a describer, damaged in every way that models and networks damage them."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

RECORDS = 12


def sound_answer() -> str:
    """What a good describer writes about a segment of a minute."""
    events = [
        {
            "start": 5.0 * n,
            "end": 5.0 * n + 3.5,
            "kind": "motion",
            "subject": f"the cup {n}",
            "action": "falls off",
            "object": "the table",
            "description": f'The cup "{n}" falls off the table – à gauche, 左.',
        }
        for n in range(RECORDS)
    ]
    entities = [
        {
            "kind": "object",
            "name": f"cup {n}",
            "attributes": ["red", "small"],
            "description": "A cup.",
            "first_seen": 5.0 * n,
            "spatial_hint": "at the left",
        }
        for n in range(RECORDS)
    ]
    texts = [
        {"start": 4.0 * n, "end": 4.0 * n + 2, "text": f"Step {n}", "description": "title card"}
        for n in range(RECORDS)
    ]
    relations = [
        {"source": f"entity:{n}", "target": f"event:{n}", "kind": "performs", "description": ""}
        for n in range(RECORDS)
    ]
    answer = {
        "events": events,
        "entities": entities,
        "texts": texts,
        "relations": relations,
        "summary": "Twelve cups fall off a table, one after the other.",
    }
    return json.dumps(answer, ensure_ascii=False)


SOUND = sound_answer()


def _flipped(rng: Random) -> str:
    data = bytearray(SOUND.encode())
    for _ in range(rng.choice([1, 2, 5, 20, 100])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return data.decode("utf-8", rng.choice(["replace", "surrogateescape", "ignore"]))


def _cut(rng: Random) -> str:
    start, end = sorted(rng.sample(range(len(SOUND) + 1), 2))
    return rng.choice([SOUND[:end], SOUND[start:], SOUND[:start] + SOUND[end:], SOUND[start:end]])


def _spliced(rng: Random) -> str:
    a, b, c = sorted(rng.sample(range(len(SOUND) + 1), 3))
    return rng.choice(
        [SOUND[:b] + SOUND[a:], SOUND[:a] + SOUND[b:c] + SOUND[a:b] + SOUND[c:], SOUND + SOUND[a:]]
    )


def _wrapped(rng: Random) -> str:
    before = rng.choice(["", "Here it is:\n", "<think>{}</think>", "```json\n", "{", "[", "\ufeff", "\x00"])
    after = rng.choice(["", "\n```", "\nI hope this helps! {}", "}", "]", "\x00", "…"])
    return before + SOUND + after


def _prose(rng: Random) -> str:
    return rng.choice(
        [
            "",
            " \n",
            "null",
            "[]",
            "{}",
            '"a text"',
            "The cup falls off the table at 0:05.",
            "I'm sorry, I can't describe this video.",
            "[" * rng.choice([10, 1000, 100_000]),
            '{"a":' * rng.choice([10, 1000, 50_000]),
            "x" * 3_000_000,
            json.dumps({"summary": "s" * 1_500_000}),
        ]
    )


def _changed(rng: Random) -> str:
    """The same object with other values in some places."""
    answer: Any = json.loads(SOUND)
    for _ in range(rng.choice([1, 3, 10])):
        field = rng.choice(list(answer))
        value = answer[field]
        if isinstance(value, list) and value and rng.random() < 0.8:
            record = rng.choice(value)
            if isinstance(record, dict) and record:
                record[rng.choice(list(record))] = _anything(rng)
        else:
            answer[field] = _anything(rng)
    if rng.random() < 0.2:
        field = rng.choice(["events", "entities", "texts", "relations"])
        if isinstance(answer[field], list):
            answer[field] = answer[field] * rng.choice([2, 10, 200])
    return json.dumps(answer, ensure_ascii=rng.random() < 0.5)


def _anything(rng: Random) -> Any:
    return rng.choice(
        [
            None,
            True,
            -1,
            0,
            1e308,
            -1e308,
            10**30,
            float("nan"),
            float("inf"),
            59.9,
            61.0,
            100_000.0,
            "",
            " ",
            "12.5",
            "00:12",
            "event:0",
            "event:99",
            "entity:-1",
            "\ud800",
            "a\x00b\u202e\n\n\tc",
            "<script>alert(1)</script>",
            "word " * 5000,
            [],
            {},
            ["red"] * 500,
            [[[[1]]]],
        ]
    )


DAMAGES: tuple[Callable[[Random], str], ...] = (
    _flipped,
    _cut,
    _spliced,
    _wrapped,
    _prose,
    _changed,
    _changed,
)


def damaged_answer(number: int) -> str:
    """The damaged answer of that number; the same each time."""
    rng = Random(number)
    return DAMAGES[number % len(DAMAGES)](rng)
