"""What the benchmark of throughput measures, once in small, and what it makes of figures."""

import pytest

from benchmarks.throughput import Rate, Setting, main, measure, shortcomings, table


def rate(name: str, calls: int = 2000, seconds: float = 7.0, overhead: float | None = 0.008) -> Rate:
    return Rate(name, 2000, calls, seconds, 320.0, overhead)


def test_a_small_measurement_has_all_rows() -> None:
    setting = Setting(questions=48, workers=1, in_flight=8, latency=0.1)
    assert setting.ideal == 80.0
    asked, alone, answered = measure(setting)
    assert (asked.name, asked.calls) == ("asked", 48)
    assert 0.3 < asked.share <= 1.0, "most of the time is waiting, on any machine"
    assert alone.overhead is not None
    assert 0 < alone.overhead < 0.1
    assert answered.calls == 96, "a look and an answer"


def test_the_table_has_a_line_for_each_row() -> None:
    lines = table([rate("asked"), rate("answered", 4000, 14.0, None)]).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2] == "| asked | 2,000 | 2,000 | 7.0 | 286 | 320 | 89% | 8.0 ms |"
    assert lines[3].endswith("| 89% | – |")


def test_what_falls_short_is_told() -> None:
    assert shortcomings([rate("asked"), rate("asked alone")]) == []
    slow, dear = shortcomings([rate("asked", seconds=8.0), rate("asked alone", overhead=0.0102)])
    assert slow.startswith("78% of the ideal rate")
    assert dear.endswith("10.2 ms")


def test_a_setting_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="threads"):
        main(["threads=3"])
