"""litellm works out a price only where somebody asks for it."""

from dataclasses import replace

import pytest

from evoharness.models.hosted import unpriced
from evoharness.models.hosted.completion import Completion, Request, complete
from evoharness.models.hosted.faults import CallFailed, Fault
from tests.models.hosted.conftest import KEY
from tests.models.hosted.server import ScriptedServer, fails, says

pytestmark = pytest.mark.xdist_group("hosted")  # one worker imports litellm, not all of them
MESSAGES = [{"role": "user", "content": "What is it?"}]


def ask(server: ScriptedServer, *, priced: bool) -> Completion:
    server.will(says("a ball"))
    return complete(Request("openai/gpt-4o", MESSAGES, {}, server.address, 10.0, KEY, priced))


def test_a_price_is_told_where_it_is_asked_for(server: ScriptedServer) -> None:
    assert ask(server, priced=True).cost_usd


def test_all_else_is_the_same_without_a_price(server: ScriptedServer) -> None:
    assert ask(server, priced=False) == replace(ask(server, priced=True), cost_usd=None)
    one, other = server.requests
    assert one.body == other.body


def test_a_call_that_fails_fails_alike_without_a_price(server: ScriptedServer) -> None:
    server.will(fails(429, "slow down"))
    with pytest.raises(CallFailed) as raised:
        complete(Request("openai/gpt-4o", MESSAGES, {}, server.address, 10.0, KEY, priced=False))
    assert raised.value.fault is Fault.BUSY


def test_the_litellm_in_use_takes_such_calls() -> None:
    assert set(unpriced.unpriced("openai/gpt-4o", MESSAGES)) == {"litellm_logging_obj", "litellm_call_id"}


def test_another_litellm_is_called_as_ever(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpriced, "_record_class", lambda: None)
    assert ask(server, priced=False).text == "a ball"
