"""The one wrapper around every command: help, configuration, one line for a mistake, sweeps."""

import multiprocessing
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.cli.command import Call, Command, Numbers
from evoharness.cli.overrides import Arguments, keys_of, prepare
from evoharness.cli.schema import keys
from evoharness.errors import UserError
from evoharness.records.paths import as_path

if TYPE_CHECKING:
    from omegaconf import DictConfig

_QUIET = (
    "hydra.run.dir=.",  # Hydra makes no folders: a run is made when all checks are done
    "hydra.sweep.subdir=.",
    "hydra.output_subdir=null",
    "hydra/job_logging=none",
    "hydra/hydra_logging=none",
)
MISTAKE = 2
INTERRUPTED = 130


def run_command(command: Command, arguments: Sequence[str] | None = None) -> int:
    """Run a command line (`sys.argv` by default) and give the exit code.

    0: done, or what the command itself makes of its numbers; 2: a mistake of the user, told in one line
    on standard error; 130: Ctrl-C. Any other error is a defect and leaves with its traceback, except in a
    sweep, which goes on with its next job and ends with 1.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(command, given)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"{command.name}: {_joined(error)}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`… | head`); nothing is left to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(command: Command, given: list[str]) -> int:
    from evoharness.config import CONFIGS

    config = CONFIGS[command.name]
    if {"-h", "--help"} & set(given):
        from evoharness.cli.help import help_text

        print(help_text(command, config))
        return 0
    leaves = list(keys(config))
    prepared = prepare(
        given,
        texts=frozenset(key.name for key in leaves if key.text),
        aliases={key.alias: key.name for key in leaves if key.alias},
        open_keys=[key.name for key in leaves if key.open],
    )
    return _through_hydra(command, prepared, [key.name for key in leaves])


def _through_hydra(command: Command, arguments: Arguments, known_keys: list[str]) -> int:
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from evoharness.config import register

    register()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # errors reach us, instead of being printed by Hydra
    sweep = None
    overrides = [*_QUIET, *arguments.overrides]
    if arguments.multirun and not arguments.shows_config:
        from evoharness.cli.overrides import quoted
        from evoharness.cli.sweep import make_sweep_folder

        sweep = make_sweep_folder(_runs_folder(overrides))
        overrides.append(f"hydra.sweep.dir={quoted(str(sweep))}")
    task = _Task(command, sweep)
    before = sys.argv
    sys.argv = [before[0], *arguments.flags, *overrides]
    try:
        hydra.main(config_path="pkg://evoharness.configs", config_name=command.name, version_base="1.3")(
            task
        )()
    except (HydraException, OmegaConfBaseException) as error:
        _remove_if_empty(sweep)
        raise UserError(one_line_of(error, known_keys)) from error
    except ValueError as error:
        _remove_if_empty(sweep)
        if "Config group override" not in str(error):
            raise
        raise UserError(one_line_of(error, known_keys)) from error
    finally:
        sys.argv = before
    if sweep is not None:
        from evoharness.cli.sweep import exit_code, load_reports, print_table

        reports = load_reports(sweep)
        print_table(sweep, reports)
        return exit_code(reports)
    if task.error is not None:
        raise task.error
    if command.exit_code is None or not task.numbers:  # none: the configuration was shown, no job was done
        return 0
    return command.exit_code(task.numbers)


class _Task:
    """What Hydra calls for each job. Errors are kept, or told and written down, but never given to Hydra."""

    def __init__(self, command: Command, sweep: Path | None) -> None:
        self.command = command
        self.sweep = sweep
        self.error: Exception | None = None
        self.numbers: Numbers = {}

    def __call__(self, composed: "DictConfig") -> None:
        """Run one job."""
        from hydra.core.hydra_config import HydraConfig
        from omegaconf import OmegaConf

        hydra_config = HydraConfig.get()
        number = int(hydra_config.job.num) if self.sweep is not None else None
        call = Call(
            overrides=tuple(hydra_config.overrides.task),
            config_text=OmegaConf.to_yaml(composed),
            sweep=self.sweep,
            number=number,
            preset=hydra_config.runtime.choices.get("preset"),
        )
        if self.sweep is None or number is None:
            try:
                self.numbers = self._run(composed, call) or {}
            except Exception as error:
                self.error = error
            return
        self._run_in_sweep(composed, call, self.sweep, number)

    def _run(self, composed: "DictConfig", call: Call) -> Numbers | None:
        from omegaconf import OmegaConf

        from evoharness.config import typed
        from evoharness.records.secrets import secrets_in, told

        for section in ("backbone", "embedder"):  # a file of the user's may hold what no argument did
            found = OmegaConf.to_container(composed[section]) if section in composed else {}
            for name in secrets_in(found, section):
                raise UserError(told(name))
        return self.command.job(typed(composed), call)

    def _run_in_sweep(self, composed: "DictConfig", call: Call, sweep: Path, number: int) -> None:
        from evoharness.cli.sweep import JobReport, save_report

        # A launcher may have brought us into a process whose children could not start as its own way asks.
        multiprocessing.set_start_method("spawn", force=True)
        own = tuple(o for o in call.overrides if not o.startswith("hydra."))
        print(f"\njob {number}: {' '.join(own)}", flush=True)
        status, message, numbers = "done", "", None
        try:
            numbers = self._run(composed, call)
        except UserError as error:
            status, message = "refused", _joined(error)
            print(f"{self.command.name}: {message}", file=sys.stderr)
        except Exception as error:
            status, message = "failed", _joined(error) or type(error).__name__
            traceback.print_exc()
        save_report(
            sweep,
            JobReport(
                number=number, overrides=own, status=status, message=message, numbers=dict(numbers or {})
            ),
        )


def one_line_of(error: BaseException, known_keys: Sequence[str]) -> str:
    """See `errors.one_line`; imported only when something is wrong."""
    from evoharness.cli.errors import one_line

    return one_line(error, known_keys)


def _joined(error: BaseException) -> str:
    return " ".join(str(error).split())


def _runs_folder(overrides: Sequence[str]) -> Path:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    found = "runs"
    for override, key in zip(overrides, keys_of(overrides), strict=True):
        if key == "runs":
            value: Any = OverridesParser.create().parse_override(override).value()
            found = str(value)
    return as_path(found)


def _remove_if_empty(sweep: Path | None) -> None:
    """Remove the folder of a sweep in which no job was begun, and those made for it."""
    if sweep is None or any(path.name != "multirun.yaml" for path in sweep.iterdir()):
        return
    (sweep / "multirun.yaml").unlink(missing_ok=True)  # Hydra's own record of the sweep
    for folder in (sweep, sweep.parent, sweep.parent.parent):
        try:
            folder.rmdir()
        except OSError:
            return
