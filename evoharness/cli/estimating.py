"""`evolve estimate=true`: what a run would use of its models, before anything is paid."""

import sys
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from evoharness.cli.command import Numbers
from evoharness.cli.inputs import gather
from evoharness.cli.parts import harness_of, workbench_config

if TYPE_CHECKING:
    from evoharness.config import EvolveConfig
    from evoharness.evaluation import WorkbenchConfig
    from evoharness.evolution.estimating import Amount, Load

WIDE = 112
"""Columns of a terminal from which on a figure and its range stand beside each other."""


def print_estimate(config: "EvolveConfig") -> Numbers:
    """A table of calls, tokens and USD by role; no run is made and no model is called."""
    from evoharness.cli.tables import Table
    from evoharness.evolution.estimating import Amount, estimate
    from evoharness.runs import make_progress
    from evoharness.runs.progress import quantity

    progress = make_progress(config.display)
    try:
        inputs = gather(config, progress)
    finally:
        progress.close()
    bench = workbench_config(config)
    found = estimate(
        config.evolution,
        inputs,
        harness_of(config.harness),
        bench,
        search=config.proposers.search,
        questioner=config.questioner,
        limits=config.limits.of_solver(),
        seed=config.seed,
    )
    loads = (found.expected, found.least, found.most)
    prices = [Prices(bench, load) for load in loads]
    narrow = sys.stdout.isatty() and get_terminal_size().columns < WIDE
    figures = ["calls", "tokens", "USD"]
    columns = figures if narrow else [name for figure in figures for name in (figure, "from – to")]
    table = Table("what a run would use, expected and from least to most", ["role", *columns])

    def add(name: str, amounts: "list[Amount]", costs: list[float | None]) -> None:
        calls, tokens = [a.calls for a in amounts], [a.tokens for a in amounts]
        pairs = [
            (f"{calls[0]:,.0f}", f"{min(calls):,.0f} – {max(calls):,.0f}"),
            (quantity(tokens[0]), f"{quantity(min(tokens))} – {quantity(max(tokens))}"),
            _money(costs),
        ]
        cells = ["\n".join(pair) for pair in pairs] if narrow else [cell for pair in pairs for cell in pair]
        table.add([name, *cells])

    roles = sorted({role for load in loads for role in load.roles})
    for role in roles:
        add(role, [load.roles.get(role, Amount()) for load in loads], [p.of(role) for p in prices])
    add("all", [load.total for load in loads], [p.total for p in prices])
    table.print()
    for note in found.notes:
        print(note)
    total, cost = found.expected.total, prices[0].total
    return {"calls": round(total.calls), "tokens": round(total.tokens), "usd": cost}


class Prices:
    """What a load costs, as far as the prices of models are known."""

    def __init__(self, config: "WorkbenchConfig", load: "Load") -> None:
        from evoharness.evaluation import Workbench

        self._load = load
        self._free = config.backbone.startswith("embedded")
        self._price = None if self._free else getattr(Workbench(config).make_backbone(), "price", None)
        self._config = config

    def of(self, role: str) -> float | None:
        """USD of one role; None: not known."""
        from evoharness.models.embedding import EMBEDDER

        amount = self._load.roles.get(role)
        if amount is None or not amount.calls:
            return 0.0
        if role == EMBEDDER and self._config.embeds_elsewhere:
            return self._of_vectors(amount)
        if self._free:
            return 0.0
        if self._price is None:
            return None
        # by the usual call: models have other prices for very long ones
        given, received = amount.input_tokens / amount.calls, amount.output_tokens / amount.calls
        usd: float | None = self._price(role, round(given), round(received))
        return None if usd is None else usd * amount.calls

    def _of_vectors(self, amount: "Amount") -> float | None:
        from evoharness.models.embedding import EmbeddingCalls
        from evoharness.retrieval.embedders.hosted import endpoint_of

        calls = EmbeddingCalls(endpoint_of(**self._config.embedder_options), self._config.embedder_terms)
        usd = calls.price(round(amount.input_tokens / amount.calls))
        return None if usd is None else usd * amount.calls

    @property
    def total(self) -> float | None:
        """USD of all roles; None as soon as one is not known."""
        costs = [self.of(role) for role in self._load.roles]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def _money(costs: list[float | None]) -> tuple[str, str]:
    from evoharness.runs.progress import money

    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return "unknown", ""
    return money(known[0]), f"{money(min(known))} – {money(max(known))}"
