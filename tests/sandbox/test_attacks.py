"""The attacks that ship: none gets through, each ends with a kind, and the next run works."""

from collections import Counter
from importlib.util import find_spec

import pytest

from evoharness.sandbox import SandboxLimits
from evoharness.sandbox.attacks import Attack, groups, load_attacks, load_group
from evoharness.sandbox.selftest import self_test

pytestmark = pytest.mark.xdist_group("victims")  # what one leaves in shared memory, others would see

QUICK = SandboxLimits(steps=50_000, cpu_seconds=1, own_seconds=0.4, total_seconds=5.0)
"""Tighter than those of the self-test: attacks that use all their time end sooner."""
TIME = {"cpu_time_exceeded", "wall_timeout"}
KNOWN = (
    "format_attribute_walk formatter_format formatter_get_field template_pattern generator_frame "
    "generator_yieldfrom exception_group guard_positional_only error_object question_changed "
    "memory_appended injected_re_sys injected_json injected_numpy_f2py injected_networkx_lazy "
    "injected_image_save answer_generator answer_equal_to_all loop_swallowing exit_raised sum_of_terms "
    "minuses trace_host trace_memory_read signal_descriptor_stolen descriptor_ring descriptor_userfault "
    "kernel_bpf kernel_perf descriptor_memory_exec namespace_user mount_memory process_clone3 "
    "process_vfork identity_privileges identity_personality kernel_key_control memory_shared_old "
    "memory_messages memory_semaphores signal_parent signal_host limit_raised limit_affinity file_symlink "
    "file_link file_mknod file_chmod file_truncate file_utime proc_memory descriptor_inotify "
    "descriptor_timer timer_alarm timer_interval descriptors_sent descriptor_write_all length_huge "
    "truncated deep duplicate_keys surrogate_value number_infinite number_nan number_huge kind_unknown "
    "kind_forged_cpu_time end_twice call_unknown calls_without_reading drip silence exit_255 "
    "signal_cpu_ignored closed_spinning crash_stack crash_segment crash_abort "
)


def eager(attack: Attack) -> Attack:
    """The same attack, which may also end by the clock where it may end by the processor's."""
    kinds = set(attack.kinds)
    return attack.model_copy(update={"kinds": tuple(kinds | TIME if kinds & TIME else kinds)})


@pytest.mark.parametrize("group", groups())
def test_no_attack_gets_through_and_ordinary_code_runs(group: str) -> None:
    report = self_test([eager(attack) for attack in load_group(group)], limits=QUICK)
    if not report.level.sufficient:
        pytest.skip(f"this system confines less: {report.level}")
    assert (len(report.trials), report.skipped) == (len(load_group(group)), 0)
    late = [trial.attack for trial in report.failed if trial.kind == "wall_timeout"]
    unhurried = self_test(late).failed  # a busy machine: once more with the time of the self-test
    failed = [*unhurried, *(trial for trial in report.failed if trial.attack not in late)]
    assert {trial.attack.id: trial.wrong for trial in failed} == {}


@pytest.mark.verify
@pytest.mark.skipif(find_spec("pydantic_monty") is None, reason="the extra monty is not installed")
@pytest.mark.parametrize("group", groups())
def test_no_attack_gets_through_monty(group: str) -> None:
    attacks = [eager(attack) for attack in load_group(group) if not attack.raw]
    report = self_test(attacks, limits=QUICK, backend="monty", allow_weaker=True)
    assert {trial.attack.id: trial.wrong for trial in report.failed} == {}


def test_every_attack_says_what_it_tries_under_a_name_of_its_own() -> None:
    attacks = load_attacks()
    names = Counter((attack.group, attack.id) for attack in attacks)
    assert max(names.values()) == 1
    assert all(attack.tries and "\n" not in attack.tries for attack in attacks)


def test_the_known_ways_out_are_among_them() -> None:
    assert set(KNOWN.split()) - {attack.id for attack in load_attacks()} == set()


def test_there_are_many() -> None:
    kinds = Counter((attack.raw, attack.ordinary) for attack in load_attacks())
    assert kinds[False, False] >= 500
    assert kinds[True, False] >= 300
    assert kinds[False, True] >= 40


def test_placeholders_are_filled_and_long_texts_are_made_when_they_are_loaded() -> None:
    sources = {attack.id: attack.source for attack in load_attacks()}
    assert sources["minuses"].count("-") == 90_000
    attack = next(attack for attack in load_attacks() if attack.id == "file_unlink")
    assert "os.unlink('/there/victim')" in attack.filled({"folder": "/there"})
