"""φ and the settings it is made from."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from evoharness.errors import UserError
from evoharness.questioner import DistractorMode, Policy, QuestionerSettings, initial_policy
from evoharness.records.question import QuestionKind

CONFIGS = Path(__file__).parents[2] / "configs" / "questioner"


def test_the_initial_policy_aims_at_the_targets() -> None:
    policy = initial_policy(QuestionerSettings(targets={"counting": 1, "spatial": 3}))
    assert policy.proportions[QuestionKind.SPATIAL] == 0.75
    assert policy.proportions[QuestionKind.CAUSAL] == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (QuestionerSettings(targets={"countin": 1}), "countin"),
        (QuestionerSettings(targets={"counting": 0}), "not all 0"),
        (QuestionerSettings(targets={}), "not all 0"),
        (QuestionerSettings(targets={"counting": 2, "spatial": -1}), "≥ 0"),
        (QuestionerSettings(distractors="near"), "neighbouring"),
        (QuestionerSettings(options=1), "options"),
        (QuestionerSettings(relate=2), "relate"),
        (QuestionerSettings(oracle_fps=0), "oracle_fps"),
        (QuestionerSettings(accuracy_low=0.8), "accuracy_low"),
        (QuestionerSettings(evolution_share=1.0), "evolution_share"),
    ],
)
def test_senseless_settings_are_told_in_one_line(settings: QuestionerSettings, said: str) -> None:
    with pytest.raises(UserError) as error:
        initial_policy(settings)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("shares", [{}, {"counting": 0.5}, {"counting": 1.5, "spatial": -0.5}])
def test_proportions_are_a_distribution(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        Policy.model_validate({"proportions": shares})


def test_the_fingerprint_is_of_the_content() -> None:
    one, two = initial_policy(QuestionerSettings()), initial_policy(QuestionerSettings())
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint != one.model_copy(update={"brief": 0.4}).fingerprint


def test_modes_grow_harder_to_an_end() -> None:
    assert DistractorMode.FAR.harder.harder is DistractorMode.NEIGHBOURING
    assert DistractorMode.NEIGHBOURING.harder is DistractorMode.NEIGHBOURING


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_config_is_a_set_of_settings(path: Path) -> None:
    merged = OmegaConf.merge(OmegaConf.structured(QuestionerSettings), OmegaConf.load(path))
    settings = OmegaConf.to_object(merged)
    assert isinstance(settings, QuestionerSettings)
    initial_policy(settings)


def test_the_default_config_says_what_the_code_says() -> None:
    merged = OmegaConf.merge(
        OmegaConf.structured(QuestionerSettings), OmegaConf.load(CONFIGS / "default.yaml")
    )
    assert OmegaConf.to_object(merged) == QuestionerSettings()
