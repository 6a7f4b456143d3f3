"""Facts that turns took from earlier messages, and turns whose prompts would lack one."""

from __future__ import annotations

from ..evidence.calls import Repeat
from ..evidence.needs import FAR_TURNS
from ..evidence.of_replay import ReplayEvidence
from ..evidence.unmet import fetches, missed_needs
from ..model.scores import Number
from . import amount, example as example, metric, share, share_metric


@share_metric("needed.recall{}", places=("", ".far"))
def recall(evidence: ReplayEvidence, place: str) -> Number:
    """Share of needed facts that the prompt of their turn still has.

    From 0 (none) to 1 (all). A turn needs a fact that it uses, that an earlier message of its thread
    has, and that its recorded prompt had too: the recorded model cannot have needed what it could
    not see. In a text of the strategy, a fact from a field counts only as that field, unless the
    text cannot be read as its result (such a strategy is never advised). A fact behind a handle in
    the prompt counts as kept: it costs one more call, in `cost.usd`. `.far` counts facts last
    mentioned six or more model turns ago. The detector does not see paraphrases and derived values.
    Without needs there is nothing to measure.

    Source: reuse distance and miss rate of cache research (Mattson et al. 1970)

    >>> recall(example(), "").value, recall(example(), ".far").value
    (0.5, None)
    """
    least = FAR_TURNS if place == ".far" else 0
    needs = len([need for need in evidence.needs if need.distance >= least])
    missed = len([item for item in missed_needs(evidence) if item.need.distance >= least])
    return share(needs - missed, needs)


@metric("needed.missed_turns", unit="turns")
def missed_turns(evidence: ReplayEvidence) -> Number:
    """Model turns that would have missed something they used.

    A turn misses a fact that it needs and that is neither in its prompt nor behind a handle in it.
    0: no turn misses anything. Without model turns there is nothing to measure.

    Source: page faults of virtual memory (Denning 1968)

    >>> missed_turns(example()).value
    1.0
    """
    return amount(_turns(evidence), of=evidence.walked.calls)


@metric("needed.missed_turn_rate", unit="share", aggregate="mean over tasks")
def missed_turn_rate(evidence: ReplayEvidence) -> Number:
    """Share of model turns that would have missed something they used.

    From 0 (none) to 1 (every turn), of all turns, including those that need nothing. A missed turn
    does not predict an extra turn. Without model turns there is nothing to measure.

    Source: page fault rate (Denning 1968)

    >>> missed_turn_rate(example())
    Number(value=0.5, weight=2.0, reason='')
    """
    return share(_turns(evidence), len(evidence.walked.calls))


def _turns(evidence: ReplayEvidence) -> int:
    """The number of turns that miss a fact."""
    return len({item.step for item in missed_needs(evidence)})


@metric("needed.handle_turns", unit="turns")
def handle_turns(evidence: ReplayEvidence) -> Number:
    """Model turns that would have to fetch something they used by a handle in their prompt.

    They are not missed turns. Each costs one more call, in `cost.usd` and `cost.prompt_tokens`. 0
    without handles; without model turns there is nothing to measure.

    Source: minor page faults: the page is not where it is needed, but at hand (Denning 1968)

    >>> handle_turns(example()).value
    0.0
    """
    turns = sum(item.by_handle for item in fetches(evidence))
    return amount(turns, of=evidence.walked.calls)


@metric("needed.refetches", unit="calls")
def refetches(evidence: ReplayEvidence) -> Number:
    """Repeated calls whose earlier result the strategy had dropped by then.

    A repeated call has the function and arguments (or the command) of an earlier one of its thread,
    and its result has at least one fact of the earlier result. It counts if the prompt of its turn
    lacks such a fact. A call repeated to see a change counts too, since it looks the same. Without
    repeated calls there is nothing to measure.

    Source: cache misses that are fetched again (Denning 1968)
    """
    repeats = evidence.session.repeats
    return amount(sum(_is_refetch(evidence, repeat) for repeat in repeats), of=repeats)


def _is_refetch(evidence: ReplayEvidence, repeat: Repeat) -> bool:
    """True if the prompt of a repeated call lacks a fact that both of its results show."""
    earlier, contents = repeat.earlier, evidence.contents
    call = evidence.call_of.get(repeat.turn)
    if call is None or evidence.is_in_prompt(evidence.index.full[earlier.index], call):
        return False
    lost = frozenset(evidence.lost_facts(earlier, call))
    for text in (repeat.again.recorded_text, earlier.recorded_text):
        lost &= contents.search.in_text(text) if lost else lost
    return bool(lost)
