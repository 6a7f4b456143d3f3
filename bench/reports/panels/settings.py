"""One strategy at several settings with its Pareto front."""

from __future__ import annotations

from collections.abc import Iterator

from ...comparison.decision import FAR, RECALL
from ...comparison.sweeps import Setting, Sweep, sweeps
from ...text.wording import counted, listed
from .. import panel
from ..answered import Answered
from ..blocks import Block, Cell, Prose, measured, number, strategy, table_of
from ..words import FAR as FAR_SAID, KEPT, NEEDED, obstacle_text

SAME = (
    "The setting is named by the traces that it was chosen on, and looks better on these than on others: "
    "a comparison of the portfolio judges it on traces that it did not choose on."
)
TUNED = "These are the traces that the setting is judged on; it was chosen on others."


@panel("settings", order=35, title="Which setting is best?")
def settings(comparison: Answered) -> list[Block]:
    """Price and recall of each strategy at its settings, with those that no other one beats."""
    found = sweeps(comparison, comparison.choice.metric)
    blocks: list[Block] = [block for sweep in found for block in _sweep(comparison, sweep)]
    if found:
        blocks.append(Prose(SAME if comparison.tuning is None else TUNED, "muted"))
    return blocks


def _sweep(comparison: Answered, sweep: Sweep) -> Iterator[Block]:
    decision = comparison.choice
    values = {setting.strategy: setting.values for setting in sweep.settings}
    best = next((values[item.strategy] for item in decision.candidates if item.qualifies and item.strategy in values), None)  # fmt: skip
    head = f"{sweep.plugin} at {counted(len(sweep.settings), 'setting')} of {listed(list(sweep.names))}"
    yield Prose(f"{head}: {best} costs least of those that qualify." if best else f"{head}: none of them qualifies.")

    def value(setting: Setting, metric: str) -> Cell:
        return measured(comparison.row(setting.strategy, metric))

    def qualifies(setting: Setting) -> Cell:
        candidate = decision.candidate(setting.strategy)
        if candidate is None:
            return Cell("", "muted")
        return Cell("yes", "good") if candidate.qualifies else Cell("no", "warn", obstacle_text(candidate.obstacles[0]))

    yield table_of(
        sweep.settings,
        {
            "setting": lambda setting: setting.values,
            "strategy": lambda setting: strategy(setting.strategy),
            number("price" if decision.unit == "usd" else "tokens"): lambda setting: value(setting, decision.metric),
            number(KEPT, NEEDED): lambda setting: value(setting, RECALL),
            number("from far back", FAR_SAID): lambda setting: value(setting, FAR),
            "Pareto front": lambda setting: Cell("on it", "good") if setting.on_front else Cell(""),
            "qualifies": qualifies,
        },
        f"On the Pareto front: no other setting is both cheaper by {decision.metric} and better by {RECALL}.",
    )
