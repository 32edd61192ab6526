"""Going on with a run: its own configuration, but for what may change when it is resumed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evoharness.cli.command import Call
from evoharness.cli.overrides import keys_of
from evoharness.cli.runs import EVOLVE, check_evolved
from evoharness.errors import UserError
from evoharness.records.paths import as_path

if TYPE_CHECKING:
    from evoharness.config import EvolveConfig
    from evoharness.runs import RunDirectory


def resumed(
    config: "EvolveConfig", call: Call, allowed: Sequence[str]
) -> "tuple[EvolveConfig, RunDirectory]":
    """The configuration of the run to go on with, and the run, opened for writing.

    What was given on the command line for the `allowed` sections and keys replaces what the run had;
    UserError for anything else that was given.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    from evoharness.config import typed
    from evoharness.runs import RunDirectory, find_run

    given = [key for key in keys_of(call.overrides) if key != "resume" and not key.startswith("hydra")]
    refused = [key for key in given if key.partition(".")[0] not in allowed]
    if refused:
        raise UserError(
            f"resume= goes on with the configuration of that run: {refused[0]}= cannot be given "
            f"(only {', '.join(allowed)})"
        )
    assert config.resume is not None
    run = RunDirectory.open(find_run(config.resume, as_path(config.runs), EVOLVE))
    now = OmegaConf.create(call.config_text)
    try:
        check_evolved(run)
        config_text = run.config_text
        if not config_text.strip():
            raise UserError(f"{run.shown}: its config.yaml is empty")
        merged: Any = OmegaConf.merge(OmegaConf.structured(type(config)), OmegaConf.create(config_text))
        for key in given:
            OmegaConf.update(merged, key, OmegaConf.select(now, key), merge=True)
        return typed(merged), run
    except (OmegaConfBaseException, ValueError, YAMLError) as error:
        run.close()
        said = str(error).splitlines()[0]
        raise UserError(f"{run.shown}: its config.yaml does not fit this version: {said}") from error
    except UserError:
        run.close()
        raise
