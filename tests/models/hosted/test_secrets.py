"""No key is in what is told, however it is written, and whoever read it from the environment."""

import json
import logging
import traceback
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from evoharness.models.backbone import BackboneError, BackboneUnavailable, MissingKey
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.faults_of import failed_call, scrubbed
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.reasoning_tasks import Reason
from tests.models.hosted.conftest import KEY
from tests.models.hosted.server import Connection, Request, ScriptedServer, fails
from tests.models.hosted.test_faults import LASTING

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
Make = Callable[..., LiteLLMBackbone]
TASK = Reason(prompt="Sum up.", evidence=())
ODD_KEY = "planted-first\n planted'second\\ third-öne"


def test_no_form_of_a_key_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_API_KEY", ODD_KEY)
    monkeypatch.setenv("OTHER_TOKEN", "other/token+1234")
    monkeypatch.setenv("SHORT_KEY", "and")
    forms = [ODD_KEY, *ODD_KEY.splitlines(), "other/token+1234"]
    for form in forms:
        for written in (
            form,
            repr(form),
            ascii(form),
            repr(form.encode()),
            json.dumps(form),
            quote(form),
            quote(form, safe=""),
            quote_plus(form),
            f"Invalid header {b'Bearer ' + form.encode()!r}",
        ):
            told = scrubbed(f"this and that: {written} end", [])
            for piece in ("planted", "second", "third", "other", "1234"):
                assert piece not in told, written
            assert told.startswith("this and that")


def test_without_a_key_no_word_is_taken_for_one(
    server: ScriptedServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOSTED_VLLM_API_KEY", raising=False)
    server.will(fails(400, "a role is needed, and there is none"))
    with pytest.raises(BackboneUnavailable, match="and there is none"):
        make("hosted_vllm/small").run(TASK)


def test_what_an_error_says_about_a_header_is_not_shown() -> None:
    for error in (
        ValueError("Invalid header value b'Bearer planted'"),
        UnicodeEncodeError("ascii", "Bearer plänted", 9, 10, "ordinal not in range"),
        ValueError("planted is odd"),
    ):
        outer = Exception(f"litellm.APIConnectionError: {error}")
        outer.__cause__ = error
        assert "planted" not in str(failed_call(outer, (), (), 0.0))
        assert "pl" not in str(failed_call(error, (), (), 0.0)).replace("perhaps", "")


@pytest.mark.parametrize(
    "key",
    [
        "planted-first\nplanted-second",
        "planted blank",
        "pl\u00e4nted-key",
        "\u201cplanted\u201d",
        "planted\x07",
    ],
)
def test_a_key_that_no_request_can_hold_is_told_by_its_variable(
    make: Make, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    backbone = make()
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(MissingKey, match="environment variable OPENAI_API_KEY cannot be sent") as error:
        backbone.run(TASK)
    assert "plant" not in str(error.value)
    assert not server.requests


def test_a_key_that_litellm_finds_by_itself_is_not_shown_either(
    server: ScriptedServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOGETHERAI_API_KEY", "planted-together-12345")

    def echoes(request: Request, connection: Connection) -> None:
        fails(400, f"what is {request.headers['Authorization'].split()[1]}?")(request, connection)

    server.will(echoes)
    with pytest.raises(BackboneUnavailable, match=r"what is \[key\]\?"):
        make("together_ai/scripted").run(TASK)
    monkeypatch.setenv("TOGETHERAI_API_KEY", "planted-first\nplanted-second")
    with pytest.raises(BackboneError) as error:
        make("together_ai/scripted").run(TASK)
    assert "planted" not in str(error.value)


def test_no_text_keeps_what_looks_like_a_key() -> None:
    text = f"Incorrect key {KEY} for https://x/v1?key=abc123&y=1, Bearer abc.def, AIzaSyA1234567890abcdef"
    told = scrubbed(f"{text}\n  and own-secret-value", ["own-secret-value", None])
    for secret in (KEY, "abc123", "abc.def", "AIzaSyA", "own-secret-value"):
        assert secret not in told
    assert "\n" not in told


def test_neither_errors_nor_logs_nor_standard_streams_hold_the_key(
    server: ScriptedServer, make: Make, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for action, _, _ in LASTING.values():
        server.will(action)
        with pytest.raises(BackboneError) as error:
            make(retries=RetryPolicy(attempts=1)).run(TASK)
        assert KEY not in "".join(traceback.format_exception(error.value))
    out, err = capfd.readouterr()
    assert KEY not in out + err + caplog.text
    assert "litellm" not in (out + err).lower()
