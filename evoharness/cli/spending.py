"""What a command may pay for, how it ends when that is used up, and what it paid in the end."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from evoharness.errors import UserError
from evoharness.records.amounts import agreeing, how_many
from evoharness.records.mistakes import in_words

if TYPE_CHECKING:
    from evoharness.cli.tables import Table
    from evoharness.config import Common
    from evoharness.models.backbone import CannotGoOn
    from evoharness.models.budget import Caps
    from evoharness.records.spend import Spend, Used
    from evoharness.runs import RunDirectory


def caps_of(config: "Common") -> "Caps":
    """The caps of a configuration; UserError for what is no cap."""
    from pydantic import ValidationError

    from evoharness.models.budget import Caps

    try:
        return Caps(**asdict(config.budget))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(("budget", *(str(part) for part in first["loc"])))
        raise UserError(f"{where}={first['input']}: {in_words(first)}") from error


def budget_of(config: "Common", run: "RunDirectory") -> Path:
    """The books of a run, for its workers; what it paid before it was stopped counts.

    To be called before workers start: what killed ones held is given back. What was paid in a stage that was
    killed, and had no time to say so, is entered in the ledger.
    """
    from evoharness.evolution.workshop import enter_untold, used_in
    from evoharness.models.budget import BUDGET_FILE, Budget
    from evoharness.records.spend import total

    file = run.path / BUDGET_FILE
    budget = Budget(file, caps_of(config))
    if budget.caps or file.exists():
        budget.begin(used=total(used_in(run.ledger).paid))
        budget.close()
        enter_untold(run)
    return file


def all_used(told: "Used", run: "RunDirectory") -> "Used":
    """What was used, with what the books of the run hold of workers that died before they told, and of
    replies that were lost."""
    from evoharness.evolution.workshop import untold
    from evoharness.models.budget import BUDGET_FILE

    return told + untold(told.paid, run.path / BUDGET_FILE)


def cut_short(error: "CannotGoOn", run: "RunDirectory") -> UserError:
    """How a run of evolution ends that can make no call any more: in one line, with the way to go on."""
    from evoharness.models.budget import BudgetExceeded, PriceUnknown

    more = " budget.usd=null" if isinstance(error, PriceUnknown) else ""
    if isinstance(error, BudgetExceeded):
        higher = max(2 * error.limit, 2 * error.used, error.used + error.needed)
        more = f" budget.{error.cap}={higher:.{2 if error.cap == 'usd' else 0}f}"
    return UserError(
        f"{error}; what is done is kept, go on with: "
        f"python -m evoharness.evolve resume={quote(run.shown)}{more}"
    )


def check_responses(path: Path, mode: str) -> None:
    """UserError for a file of responses that cannot be read: what it holds would be paid for again."""
    from evoharness.models.response_cache import ResponseCache

    if mode != "off":
        responses = ResponseCache(path, mode)
        try:
            responses.facts()
        except UserError as error:
            raise UserError(f"{error}: move it away, or go without it, backbone.cache=off") from error
        finally:
            responses.close()


def print_used(used: "Used") -> None:
    """What was paid by role, and how much the response cache saved."""
    if used.paid:
        paid_table(used.paid).print()
    if used.lost.calls:
        lost = used.lost.calls
        replies = agreeing(lost, "its reply, and is", "their replies, and are")
        print(
            f"{lost:,} of these calls lost {replies} booked with {used.lost.tokens:,} tokens, at the most "
            f"that {agreeing(lost, 'it', 'they')} may have taken"
        )
    if used.cached.calls:
        cached = used.cached.calls
        print(
            f"{how_many(cached, 'call')} {agreeing(cached, 'was', 'were')} answered from the response cache"
        )


def paid_table(paid: "Mapping[str, Spend]", title: str = "paid, by role") -> "Table":
    """Calls, tokens, frames and money of each role, and of all together."""
    from evoharness.cli.tables import Table
    from evoharness.records.spend import total
    from evoharness.runs.progress import money

    table = Table(title, ["role", "calls", "tokens in", "tokens out", "frames", "USD"])
    rows = [*paid.items(), *([("all", total(paid))] if len(paid) > 1 else [])]
    for role, spend in rows:
        table.add(
            [
                role,
                f"{spend.calls:,}",
                f"{spend.input_tokens:,}",
                f"{spend.output_tokens:,}",
                f"{spend.frames:,}",
                money(spend.cost_usd),
            ]
        )
    return table
