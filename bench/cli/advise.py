"""`bench advise`: the best that is known, tried on recordings, and how to put it to use."""

from __future__ import annotations

from dataclasses import replace

import click

from ..model.errors import ScenarioError
from .options import Replaying, grouped, inputs_of, replaying, require_apart
from .outcome import Concluded, print_report, written_reports
from .saying import say


@click.command(cls=grouped("--output", "--format", "--strategy", "--model", "--seed"))
@replaying
@click.option("--seed", type=int, metavar="N", help="What draws the tasks to choose on (default: the scenario's seed).")
def advise(asked: Replaying, seed: int | None) -> None:
    """Say what to do about the cost of recorded runs: the cheapest policy that keeps enough, and the lines that put it to use.

    About twenty policies are tried, or those of --strategy, or those of the scenarios. With 12 tasks or more the policy is chosen on one half of
    them and judged on the other.
    """
    from ..comparison.tuning import judged_apart
    from ..reports import build_blocks
    from ..reports.answered import Answered
    from ..reports.decision_sentence import advice_text, headroom_text, idle_text
    from ..reports.text import WIDTH, drawn
    from ..strategies.portfolio import PORTFOLIO

    if not asked.scenarios and not asked.traces:
        raise ScenarioError("nothing to advise on — give recordings, or a scenario file")
    if not asked.scenarios and not asked.strategies:
        asked = replace(asked, strategies=tuple(f"{name}={slots}" for name, slots in PORTFOLIO.items()))
    plans = [plan if seed is None else replace(plan, seed=seed) for plan in asked.plans()]
    require_apart(asked.outputs, inputs_of(plans, asked.outputs))
    found = [
        Answered.of(judged_apart(item, plan.seed)) for plan, item in zip(plans, asked.compared(plans), strict=True)
    ]
    with written_reports(found, asked.outputs, asked.form) as streamed:
        pass
    sentences = [f"{item.title}: {advice_text(item)}" if len(found) > 1 else advice_text(item) for item in found]
    if streamed is not None:
        print_report(streamed, sentences[0])
        raise Concluded(0)
    for item, sentence in zip(found, sentences, strict=True):
        say(sentence)
        say(headroom_text(item.advice))
        say("\n".join(drawn(build_blocks(item, ["money"])[0].blocks, WIDTH)))
        if item.choice.idle:
            say(idle_text(item.choice.idle))
    for path in asked.outputs:
        say(f"wrote {path}")
    raise Concluded(0)
