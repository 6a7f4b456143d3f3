"""False alarms of the rules that read prose: texts that models wrote honestly, checked as if a
strategy had written them.

    python benchmarks/honest_texts.py RECORDINGS... [--most 3] [--show N]

Two kinds are taken from recordings: *turns*, the words of a model after it saw results, and
*summaries*, what a compaction put in the place of the conversation. Each is given to the checks as
the text of a compactor that has read everything before it, so a recording must begin with its
session. What the rules find in them is counted as a false alarm, whether or not the model erred, so
the rates are upper ones.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

import bench
from bench.comparison.certainty import lowest_rate
from bench.evidence.checks import checks_of
from bench.evidence.index import index_trace
from bench.evidence.of_replay import ReplayEvidence
from bench.evidence.session import TraceSession
from bench.model import ContextReset, Message, ModelTurn, ToolResult, Trace, UserTurn
from bench.model.scores import Finding
from bench.replayer.replaying import Replayer
from bench.strategies import build_strategy
from bench.strategies.declaring import declaration

RULES = ("misattributed", "invented")
FEWEST_CHARS = 60
CONTINUED = "This session is being continued from a previous conversation"
"""How Claude Code begins the user turn that holds a summary."""
ADDED = (
    "\nIf you need specific details from before compaction",
    "\nPlease continue the conversation from where",
)
"""How the words begin that Claude Code itself puts behind a summary."""


class Honest(NamedTuple):
    """A text that a model wrote, and the recording up to it."""

    kind: str
    before: Trace
    text: str


def honest_texts(trace: Trace, most: int) -> Iterator[Honest]:
    """Yield the summaries of a recording and at most so many of its turns, spread evenly over those
    that follow a result.
    """
    turns: list[int] = []
    results = 0
    for at, step in enumerate(trace.steps):
        results += isinstance(step, ToolResult)
        if isinstance(step, ModelTurn) and results and len(step.content) >= FEWEST_CHARS:
            turns.append(at)
        summary = step.summary if isinstance(step, ContextReset) else None
        if isinstance(step, UserTurn) and step.content.startswith(CONTINUED):
            summary = step.content
        if summary and len(summary) >= FEWEST_CHARS and results:
            for added in ADDED:
                summary = summary.partition(added)[0]
            yield Honest("summary", before(trace, at), summary)
    for at in turns[:: max(1, -(-len(turns) // max(1, most)))][:most]:
        yield Honest("turn", before(trace, at), trace.steps[at].content)  # type: ignore[union-attr]


def before(trace: Trace, at: int) -> Trace:
    """The recording up to a step, with one more model call that reads it."""
    ask = ModelTurn(index=trace.steps[at].index, thread=trace.steps[at].thread, content="")
    return msgspec.structs.replace(trace, id=f"{trace.id} {at}", steps=(*trace.steps[:at], ask))


def checked(honest: Honest) -> dict[str, tuple[Finding, ...] | None]:
    """By rule what it finds in a text; None where the rule does not read it."""
    index = index_trace(honest.before)
    session = TraceSession(honest.before, index)
    last = honest.before.steps[-1].index
    text = honest.text

    def compactor(window: bench.strategies.Window) -> list[Message] | None:
        if window.step != last:
            return None
        return [*window.messages[:1], Message(role="user", kind="made", text=text)]

    replay = Replayer(honest.before, index, session.messages.count).replay(
        build_strategy(declaration({"compactor": compactor}, "honest"))
    )
    if replay.failure:
        raise RuntimeError(replay.failure)
    checks = checks_of(ReplayEvidence(session, replay))
    first_unsupported = checks["invented"].unchecked_text
    unsupported = (Finding(None, first_unsupported),) if first_unsupported else ()
    found = {rule: checks[rule].findings if checks[rule].of else None for rule in RULES}  # type: ignore[index]
    return {**found, "unsupported": unsupported}


def main() -> None:
    """Print the counts as the entries of `bench/evidence/false_alarms.toml`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--most", type=int, default=3)
    parser.add_argument("--show", type=int, default=0)
    asked = parser.parse_args()
    of: Counter[tuple[str, str]] = Counter()
    hits: Counter[tuple[str, str]] = Counter()
    shown: Counter[tuple[str, str]] = Counter()
    for path in asked.recordings:
        for trace in bench.load([path]).traces:
            for honest in honest_texts(trace, asked.most):
                for rule, findings in checked(honest).items():
                    of[honest.kind, rule] += findings is not None
                    hits[honest.kind, rule] += bool(findings)
                    if findings and shown[honest.kind, rule] < asked.show:
                        shown[honest.kind, rule] += 1
                        print(
                            f"# {honest.kind} {rule} {honest.before.id[-40:]}: {findings[0].text!r} {findings[0].was!r}"
                        )
    for kind, rule in sorted(of):
        texts, wrong = of[kind, rule], hits[kind, rule]
        print(
            f"[{rule}.{kind}]\ntexts = {texts}\nflagged = {wrong}  # at most {1 - lowest_rate(texts - wrong, texts):.3f}"
        )


if __name__ == "__main__":
    main()
