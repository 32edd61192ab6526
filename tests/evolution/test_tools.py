"""Drafts of tools: tested on the memory of a real recording, and handed back until they pass."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evoharness.evaluation import InlineExecutor, ProcessExecutor, WorkbenchConfig
from evoharness.evolution.proposing import Candidate
from evoharness.evolution.tools import (
    MOST_ATTEMPTS,
    Revision,
    ToolCheck,
    ToolDraft,
    check_tool,
    report_on,
    revise_tool,
)
from evoharness.evolution.verification import changed_tools, verify
from evoharness.harness import Harness, Route
from evoharness.records.evolution import ChangeKind, Proposal
from evoharness.records.memory import EntityKind, VideoMemory
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question
from evoharness.samples import render_samples
from evoharness.sandbox import SandboxUnavailable, ToolReport
from tests.evolution.colour_world import ColourConfig, write_video
from tests.evolution.scripted import STRATEGY, ScriptedExecutor, outcome, question
from tests.solver.entity_counter import FILES, MANIFEST, SOURCE

COUNTER = ToolDraft("count_entities", SOURCE, MANIFEST)
NO_SUCH_FIELD = replace(COUNTER, source=SOURCE.replace('entity["kind"]', 'entity["type"]'))
"""Fails its tests wherever there is an entity."""
NEGATIVE = replace(COUNTER, source=SOURCE.replace("return count", "return -1 - count"))
BASE = Harness(routes=(Route(strategy="plain", memory=True),), strategies={"plain": STRATEGY})


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("recordings")
    (key,) = render_samples(folder, 1, 7, longest_minutes=0.6, workers=1).keys
    (recording,) = folder.rglob(f"{key}.mp4")
    text = folder / "text.mp4"
    text.write_text("no video")
    return {"text": text, "gone": folder / "gone.mp4", "recording": recording}


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InlineExecutor]:
    running = InlineExecutor(WorkbenchConfig(cache_dir=tmp_path_factory.mktemp("cache")))
    yield running
    running.close()


@pytest.fixture
def check(executor: InlineExecutor, videos: dict[str, Path]) -> Callable[[ToolDraft], ToolReport]:
    """Tests a draft as a proposer would have it done."""
    return lambda draft: report_on(executor, draft, tuple(videos.values()))


def test_the_entity_counter_of_the_paper_on_a_real_memory(
    executor: InlineExecutor, videos: dict[str, Path], check: Callable[[ToolDraft], ToolReport]
) -> None:
    """With one test more, whose value is counted here, by hand."""
    bench = executor.bench
    memory: VideoMemory = bench.memory(bench.video(videos["recording"]))
    things = [e for s in memory.segments for e in s.entities if e.kind is EntityKind.OBJECT]
    assert things
    manifest = json.loads(MANIFEST)
    arguments = {"start": 0, "end": memory.duration, "kind": "object"}
    manifest["tests"].append({"arguments": arguments, "equals": len(things)})
    assert check(replace(COUNTER, manifest=json.dumps(manifest))) == ToolReport(tests=4)
    manifest["tests"][-1]["equals"] += 1
    (line,) = check(replace(COUNTER, manifest=json.dumps(manifest))).failures
    assert line.startswith("test 4, ")
    assert f"expected {len(things) + 1}, and not {len(things)} (number)" in line


def test_a_draft_fails_with_the_line_of_its_source(check: Callable[[ToolDraft], ToolReport]) -> None:
    report = check(NO_SUCH_FIELD)
    assert "at line 6: KeyError: 'type'" in report.failures[0].replace('"', "'")
    assert not report.passed


def test_the_workers_do_the_same(tmp_path: Path, videos: dict[str, Path]) -> None:
    workers = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path), workers=1)
    checks = [ToolCheck(draft, (videos["recording"],)) for draft in (COUNTER, NEGATIVE)]
    reports = dict(workers.map(check_tool, checks))
    workers.close()
    assert reports[0].passed
    assert "expected a number of at least 0, and not -1" in reports[1].failures[0]


def test_a_manifest_that_cannot_be_read_is_told_in_full(check: Callable[[ToolDraft], ToolReport]) -> None:
    manifest = MANIFEST.replace('"purpose"', '"aim"').replace("at_least", "at_most")
    report = check(replace(COUNTER, manifest=manifest))
    assert [line.partition(":")[0] for line in report.violations] == ["count_entities.json"] * 3
    assert report.tests == 0


def test_without_a_memory_it_cannot_be_tested(executor: InlineExecutor, videos: dict[str, Path]) -> None:
    for paths in ((), (videos["text"], videos["gone"])):
        report = report_on(executor, COUNTER, paths)
        assert not report.passed
        assert report.lines[0].startswith("there is no memory to test it on: ")


def test_a_backbone_that_cannot_remember_leaves_no_memory(tmp_path: Path) -> None:
    film = write_video(tmp_path / "film.mp4", [("red", 2.0)])
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path / "cache"))
    report = report_on(executor, COUNTER, (film,))
    assert report.lines[0].startswith("there is no memory to test it on: ")
    executor.close()


def test_a_failure_of_the_sandbox_says_nothing_about_a_tool(
    executor: InlineExecutor, videos: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise SandboxUnavailable("gone")

    monkeypatch.setattr(executor.bench.sandbox, "run", gone)
    with pytest.raises(SandboxUnavailable):
        report_on(executor, COUNTER, (videos["recording"],))


# Revision


def revised(
    check: Callable[[ToolDraft], ToolReport], *drafts: ToolDraft, attempts: int = MOST_ATTEMPTS
) -> tuple[Revision, list[ToolReport]]:
    """The revision of the first draft by somebody who has the others ready, and what they were told."""
    told: list[ToolReport] = []
    following = list(drafts[1:])

    def revise(draft: ToolDraft, report: ToolReport) -> ToolDraft:
        assert draft is drafts[len(told)]
        told.append(report)
        return following.pop(0)

    return revise_tool(drafts[0], check, revise, attempts), told


def test_a_sound_draft_needs_no_revision(check: Callable[[ToolDraft], ToolReport]) -> None:
    revision, told = revised(check, COUNTER)
    assert revision.verified is COUNTER
    assert BASE.with_tool(COUNTER.name, COUNTER.files).tools == {"count_entities": FILES}
    assert not told


def test_errors_are_handed_back_until_a_version_passes(check: Callable[[ToolDraft], ToolReport]) -> None:
    revision, told = revised(check, NO_SUCH_FIELD, NEGATIVE, COUNTER)
    assert revision.verified is COUNTER
    assert ["KeyError" in told[0].failures[0], "-1" in told[1].failures[0]] == [True, True]
    assert [report.passed for _, report in revision.attempts] == [False, False, True]


def test_three_versions_at_most(check: Callable[[ToolDraft], ToolReport]) -> None:
    revision, told = revised(check, NEGATIVE, NO_SUCH_FIELD, NEGATIVE, COUNTER)
    assert revision.verified is None
    assert (len(revision.attempts), len(told)) == (3, 2)
    assert all(report.lines for _, report in revision.attempts)
    assert revised(check, NEGATIVE, attempts=1)[0].verified is None
    with pytest.raises(ValueError, match="at least one"):
        revised(check, COUNTER, attempts=0)


# Candidates


def candidate(name: str, harness: Harness) -> Candidate:
    proposal = Proposal(id=name, kind=ChangeKind.TOOL, title=name, reason="", proposer="test")
    return Candidate(proposal, harness)


def with_tool(draft: ToolDraft, base: Harness = BASE) -> Harness:
    return base.with_tool(draft.name, draft.files)


ASKED: list[str] = []


def answers(harnesses: list[Harness], questions: list[Question]) -> dict[str, list[Outcome]]:
    ASKED.extend(harness.fingerprint for harness in harnesses)
    return {h.fingerprint: [outcome(q, 0.0) for q in questions] for h in harnesses}


def reasons(executor: InlineExecutor, videos: dict[str, Path], *candidates: Candidate) -> dict[str, str]:
    """What became of each; the first evolution question is about a video that has no memory."""
    ASKED.clear()
    asked = [question(i, key) for i, key in enumerate(videos)]
    records = verify(candidates, BASE, {}, asked, videos, executor, answers)  # type: ignore[arg-type]
    return {record.proposal.id: record.rejected for record in records}


def test_a_candidate_with_a_failing_tool_answers_no_question(
    executor: InlineExecutor, videos: dict[str, Path]
) -> None:
    sound, failing = with_tool(COUNTER), with_tool(NO_SUCH_FIELD)
    forbidden = with_tool(replace(COUNTER, source="import os\n" + SOURCE))
    other = with_tool(replace(NEGATIVE, name="second"), sound)
    said = reasons(
        executor,
        videos,
        candidate("sound", sound),
        candidate("failing", failing),
        candidate("forbidden", forbidden),
        candidate("one-of-two", other),
    )
    assert said["sound"] == ""
    assert said["failing"].startswith("tools_generated/count_entities.py, test 1, arguments {")
    assert "KeyError" in said["failing"]
    assert said["forbidden"].startswith("tools_generated/count_entities.py, line 1: ")
    assert said["one-of-two"].startswith("tools_generated/second.py, test 1, ")
    assert [sound.fingerprint] == ASKED


def test_a_changed_manifest_is_tested_as_well(executor: InlineExecutor, videos: dict[str, Path]) -> None:
    stricter = json.dumps(
        {**json.loads(MANIFEST), "tests": [*json.loads(MANIFEST)["tests"][:2], {"equals": 1}]}
    )
    said = reasons(executor, videos, candidate("stricter", with_tool(replace(COUNTER, manifest=stricter))))
    assert "missing 3 required" in said["stricter"]


def test_without_any_memory_it_is_turned_down(executor: InlineExecutor, videos: dict[str, Path]) -> None:
    said = reasons(executor, {"text": videos["text"]}, candidate("sound", with_tool(COUNTER)))
    assert said["sound"].startswith("tools_generated/count_entities.py, there is no memory to test it on: ")


def test_tools_that_are_not_changed_cost_nothing() -> None:
    """The scripted executor knows no job about tools: being given one is an error."""
    base = with_tool(COUNTER)
    changed = base.with_parameters(frame_cap=64)
    assert changed_tools(candidate("a", changed), base) == []
    records = verify(
        [candidate("a", changed)],
        base,
        {},
        [question(1)],
        {"v0": Path("v0.mp4")},
        ScriptedExecutor(),
        answers,  # type: ignore[arg-type]
    )
    assert records[0].rejected == ""
