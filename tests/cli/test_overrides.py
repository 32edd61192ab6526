"""Paths and texts reach a command exactly as they were typed; everything else is Hydra's."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evoharness.cli.overrides import prepare, quoted
from evoharness.errors import UserError

TEXTS = frozenset({"videos", "question", "harness.source"})


def through_hydra(value: str) -> object:
    """What a text setting holds after Hydra and OmegaConf have read the argument."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf

    override = OverridesParser.create().parse_override(f"question={quoted(value)}")
    assert not override.is_sweep_override()
    config = OmegaConf.create({"question": None})
    OmegaConf.update(config, "question", override.value())
    return config.question


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
@example("my file (1), it's = [a, b] {c: d} ~ é ? #%!.mp4")
@example("${oc.env:HOME}")
@example("\\${x}\\")
@example("'")
@example("\\'")
@example('"quoted"')
@example("choice(a,b)")
@example("")
def test_any_text_survives(value: str) -> None:
    if value not in {"null", "???"}:
        assert through_hydra(value) == value


@given(st.text("\\'\"${}a", max_size=8))
def test_backslashes_quotes_and_dollars_survive(value: str) -> None:
    assert through_hydra(value) == value


def test_null_stays_null() -> None:
    assert through_hydra("null") is None


def given_arguments(*arguments: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    prepared = prepare(arguments, TEXTS, {"harness": "harness.source"}, ["harness.parameters"])
    return prepared.flags, prepared.overrides


def test_only_texts_are_quoted() -> None:
    assert given_arguments("videos=a,b", "seed=1,2", "gate=paired,argmax") == (
        (),
        ("videos='a,b'", "seed=1,2", "gate=paired,argmax"),
    )


def test_short_names_and_open_mappings() -> None:
    assert given_arguments("harness=my dir", "harness.parameters.frame_cap=64")[1] == (
        "harness.source='my dir'",
        "++harness.parameters.frame_cap=64",
    )


def test_flags_may_stand_anywhere() -> None:
    assert given_arguments("seed=1,2", "-m", "videos=x", "--cfg", "job") == (
        ("-m", "--cfg", "job"),
        ("seed=1,2", "videos='x'"),
    )


def test_a_key_cannot_be_added_where_nobody_reads_it() -> None:
    assert given_arguments("+new=1", "++videos=x")[1] == ("new=1", "videos='x'")


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("--folder", "unknown option --folder"),
        ("video", "did you mean videos=…"),
        ("some words", "'some words' is no setting"),
        ("=x", "is no setting"),
    ],
)
def test_what_is_no_setting_is_said_so(argument: str, said: str) -> None:
    with pytest.raises(UserError, match="settings are given as key=value") as raised:
        given_arguments(argument)
    assert said in str(raised.value)
