"""The sandbox's stub offers what the real `ctx` and `memory` offer; every strategy runs against it."""

from importlib.resources import files

import pytest

from evoharness.harness import Parameters
from evoharness.records.tool import MEMORY_READS
from evoharness.sandbox import HostApi, ProcessSandbox, SandboxLimits, stub
from evoharness.solver.context import ARGUMENTS

STRATEGIES = {
    path.name: path.read_text(encoding="utf-8")
    for path in files("evoharness.strategies").iterdir()
    if path.name.endswith(".py") and not path.name.startswith("_")
}


def signature(api: HostApi, name: str) -> list[tuple[str, bool]]:
    return [(key, field.is_required()) for key, field in api.methods[name].arguments.model_fields.items()]


def test_ctx_has_the_calls_of_the_real_one_in_the_same_order_of_arguments() -> None:
    api = stub.stub_context()
    assert set(api.methods) == {*ARGUMENTS, *stub.TRIAL_SIGNATURES}
    for name, model in ARGUMENTS.items():
        real = [(key, field.is_required()) for key, field in model.model_fields.items()]
        assert signature(api, name) == real, name


def test_memory_has_the_reads_of_the_real_one() -> None:
    assert set(stub.stub_memory().methods) == set(MEMORY_READS)


def test_ctx_has_the_initial_parameters() -> None:
    assert stub.stub_context().data["params"] == Parameters().model_dump(mode="json")


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_strategy_that_ships_finishes(name: str) -> None:
    sandbox = ProcessSandbox(allow_weaker=True)
    result = sandbox.run(
        STRATEGIES[name], "strategy", {"question": stub.QUESTION}, stub.stub_context(), SandboxLimits()
    )
    sandbox.close()
    assert (result.kind, result.message) == ("finished", "")
    assert result.value["choice"] in range(len(stub.QUESTION["options"]))


@pytest.mark.parametrize("generated", [True, False])
def test_every_call_can_be_made(generated: bool) -> None:
    api = stub.stub_memory() if generated else stub.stub_context()
    given = {
        "query": "a",
        "time": 1,
        "start": 0,
        "end": 9,
        "segment_id": "s0000",
        "name": "search",
        "claim": "a",
    }
    given |= {"prompt": "a", "a": "a", "texts": ["a", "b"], "pattern": "a+", "text": "caab"}
    for name, method in api.methods.items():
        if name == "tool":
            continue
        wanted = {key: given[key] for key, needed in signature(api, name) if needed}
        assert method.run(method.arguments.model_validate(wanted)) is not None
