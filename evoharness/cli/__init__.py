"""The command line that all commands share."""

from evoharness.cli.command import Call, Command, Numbers
from evoharness.cli.main import run_command
from evoharness.cli.schema import OPEN, text

__all__ = ["OPEN", "Call", "Command", "Numbers", "run_command", "text"]
