"""Tables for people, on a terminal and in a pipe alike."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal


@dataclass
class Table:
    """Rows of texts under a title."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, row: Sequence[str]) -> None:
        """One more row, a text for each column."""
        self.rows.append(row)

    def print(self) -> None:
        """To standard output; as wide as it needs to be when that is no terminal."""
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable

        table = RichTable(box=box.SIMPLE_HEAD)
        for position, column in enumerate(self.columns):
            numeric = all(_numeric(row[position]) for row in self.rows)
            side: Literal["left", "right"] = "right" if numeric and self.rows else "left"
            table.add_column(column, justify=side, overflow="fold")  # no figure is cut
        for row in self.rows:
            table.add_row(*(_escaped(cell) for cell in row))
        console = Console(highlight=False) if sys.stdout.isatty() else Console(width=200, highlight=False)
        console.print(_escaped(self.title), style="bold", soft_wrap=True)
        console.print(table)


def shown(value: str | int | float | None) -> str:
    """A number as people read it; a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def _numeric(cell: str) -> bool:
    return not cell or cell[0].isdigit() or cell[0] in "–+-$" or cell in {"nan"}


def _escaped(cell: str) -> str:
    from rich.markup import escape

    return escape(cell)
