"""One case: the rows of all strategies on one trace, and the compact evidence that gates and reports show. Bounded in size, whatever the trace."""

from __future__ import annotations

from typing import Literal

from .base import Value
from .run import Counting, Economy, Failure, Note, Reasoning, Spent
from .score import Row, Sample, Turned
from .trace import Outcome

# ---------------------------------------------------------------- what was lost


class NeededAt(Value, frozen=True, kw_only=True):
    """A later turn, by step, and the fact that it needed."""

    turn: int
    fact: str


class Loss(Value, frozen=True, kw_only=True):
    """The loss of one result (or of one turn; `step` None: the run): facts by name, how many of how many, and the turns that needed them.

    `differs`: the metric names no facts but what came out otherwise; `facts` are its own words then.
    """

    step: int | None
    function: str = ""
    facts: tuple[str, ...] = ()
    count: float = 0
    total: float = 0
    needed_at: tuple[NeededAt, ...] = ()
    differs: bool = False


class Losses(Value, frozen=True, kw_only=True):
    """The losses that one metric found under one strategy: the worst, worst first, and in how many `places` something was lost."""

    strategy: str
    metric: str
    worst: tuple[Loss, ...]
    places: int


class Span(Value, frozen=True):
    """A piece of text: `plain`, a fact that was `lost`, one that was lost and `needed` later, or a `gap` left out here."""

    text: str
    kind: Literal["plain", "lost", "needed", "gap"] = "plain"


class Rows(Value, frozen=True):
    """Some rows of a table that a tool result held, with the cells that are gone as (row, column)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    gone: frozenset[tuple[int, int]]
    caption: str

    def column_gone(self, number: int) -> bool:
        return bool(self.rows) and all((row, number) in self.gone for row in range(len(self.rows)))

    def row_gone(self, number: int) -> bool:
        return bool(self.columns) and all((number, column) in self.gone for column in range(len(self.columns)))


class Kept(Value, frozen=True, kw_only=True):
    """The part of a tool result that one strategy kept: where it was looked for, the text, the facts lost (of `lost_total`), their uses.

    `said` tells in sentences which rows, columns and values are gone; `retrievable` of the lost facts are behind a handle that is shown.
    """

    strategy: str
    where: str
    text: tuple[Span, ...]
    lost: tuple[str, ...]
    lost_total: int
    needed_at: tuple[NeededAt, ...] = ()
    retrievable: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    rows: Rows | None = None


class ResultShown(Value, frozen=True, kw_only=True):
    """One tool result untruncated, beside what the strategies that lost most of it kept. `missed` uses in all lacked one of its facts."""

    step: int
    function: str
    characters: int
    untruncated: tuple[Span, ...]
    kept: tuple[Kept, ...]
    missed: int
    lost: float
    rows: Rows | None = None


class Cause(Value, frozen=True, kw_only=True):
    """Losses of one case that have one cause: what kind of thing was lost, and of what: results of a `function`, or (`""`) what an `origin` had said.

    `strategies` lost it, of so many `results` (or messages); later turns `missed` it so often, that of `step` most.
    """

    what: str
    function: str
    origin: str = ""
    strategies: tuple[str, ...]
    results: int
    missed: int
    step: int


# ---------------------------------------------------------------- how it went


class CallShown(Value, frozen=True, kw_only=True):
    """One model call of a run: its number from 1, its step, the tokens of its prompt, and what happened there.

    `evicted` are the steps of results that left the prompt, `missed` facts that the turn needed and did not find. `invalid` says what a provider
    would refuse in it, of the messages of which steps `invalid_at`, `task_missing` that no message holds the task any more, `system_missing` that
    none holds the system prompt, `rules_missing` which standing instructions none holds.
    """

    number: int
    step: int
    tokens: int
    compacted: bool = False
    evicted: tuple[int, ...] = ()
    missed: tuple[str, ...] = ()
    invalid: str = ""
    invalid_at: tuple[int, ...] = ()
    task_missing: bool = False
    system_missing: bool = False
    rules_missing: tuple[str, ...] = ()


class WindowShown(Value, frozen=True, kw_only=True):
    """The window of one run: how many calls, the largest prompt, how often it was compacted, results that left, prompts over the model's window
    (None: not known), prompts that are `invalid` and such that no longer hold the task, the system prompt or a rule. `curve` are calls enough to
    draw it: evenly spaced ones, and those where something happened.
    """

    calls: int = 0
    largest_tokens: int = 0
    total_tokens: int = 0
    compacted: int = 0
    evicted: int = 0
    over: int | None = None
    invalid: int = 0
    task_missing: int = 0
    system_missing: int = 0
    rules_missing: int = 0
    curve: tuple[CallShown, ...] = ()


class RouteCount(Value, frozen=True, kw_only=True):
    """The count of a route that a router took where another or the same was expected, and the origin of that expectation."""

    router: str
    expected: str
    taken: str
    expected_from: str
    count: int


class RouteTurn(Value, frozen=True):
    """One routing decision of a run: `expected` is None where the route taken was the expected one. `count` decisions in a row look the same."""

    step: int
    router: str
    taken: str
    expected: str | None = None
    count: int = 1


class RoutesShown(Value, frozen=True, kw_only=True):
    """The routing of one run: decisions counted, the path with its wrong turns, and the first of these with its step. `labelled` are the steps with a
    label that a router decided at.
    """

    counts: tuple[RouteCount, ...] = ()
    path: tuple[RouteTurn, ...] = ()
    left_out: int = 0
    first_wrong: Turned | None = None
    first_wrong_step: int | None = None
    labelled: tuple[int, ...] = ()


class Judgement(Value, frozen=True, kw_only=True):
    """The conclusions of an evaluator about one step, from the stored record."""

    step: int
    function: str
    outcome: str
    result_type: str
    conclusions: str


class FindingChange(Value, frozen=True, kw_only=True):
    """One finding that came out otherwise from the stored record than from the untruncated one."""

    step: int
    path: str
    kind: str
    before: str
    after: str


class Compaction(Value, frozen=True):
    """One compaction of a thread: the step of its prompt, and of the facts of all results before it how many it holds, out of how many.

    A fact that two results tell counts for each.
    """

    step: int
    kept: int
    total: int

    @property
    def recall(self) -> float:
        return self.kept / self.total


class AlteredWords(Value, frozen=True, kw_only=True):
    """A user or system message that a prompt shows in other words: its step, who said it, and the beginnings of both texts."""

    step: int
    origin: str
    was: str
    shown: str


class RunShown(Value, frozen=True, kw_only=True):
    """The kept part of one run: no prompt and no result, but what reports show of them.

    `same_prompts`: the model was shown what the recorded system showed it. `spent` says where its money goes under the provider's cache and
    without any (`Economy`); empty where some call has no price. `unstable_at` is the step at which the strategy gave something else
    when the case was replayed again. `own_words` are sentences of the strategy's own, each with the number of its messages that have it.
    `seconds` is how long replaying and scoring it took: the only thing of a case that is not the same twice. Nothing but JUnit shows it.
    """

    failure: Failure | None = None
    seconds: float = 0.0
    unstable_at: int | None = None
    same_prompts: bool = False
    spent: dict[Economy, Spent] = {}
    encoding: str = ""
    encoding_assumed: bool = False
    window: WindowShown = WindowShown()
    routes: RoutesShown = RoutesShown()
    notes: tuple[Note, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    judged: int = 0
    finding_changes: tuple[FindingChange, ...] = ()
    findings_differing: int = 0
    findings_judged: int = 0
    probes: tuple[Sample, ...] = ()
    compactions: tuple[tuple[Compaction, ...], ...] = ()
    own_words: tuple[tuple[str, int], ...] = ()
    altered_words: tuple[AlteredWords, ...] = ()
    handles: int = 0
    handles_empty: int = 0


# ---------------------------------------------------------------- the recording itself


class RecordedCut(Value, frozen=True, kw_only=True):
    """One result that the recorded model saw in part.

    `untruncated_chars` are those of the output itself, without the escapes and the envelope that a message puts around it, `seen_chars` those of
    the message that the model got. `lost` counts the facts that stood neither in that message nor in anything said before. `asked_again` are
    later results that show some of these (step and count), `said` the first later turns that name some (step and a few facts), `said_total` all
    that later turns name.
    """

    step: int
    function: str
    untruncated_chars: int
    seen_chars: int
    facts: int
    lost: int
    asked_again: tuple[tuple[int, int], ...] = ()
    said: tuple[tuple[int, tuple[str, ...]], ...] = ()
    said_total: int = 0

    @property
    def needed(self) -> int:
        """The number of lost facts that turned up again."""
        return sum(count for _, count in self.asked_again) + self.said_total


class RecordedReset(Value, frozen=True, kw_only=True):
    """One time the recorded harness cleared its history: results that went, steps it kept, and how many of the facts no longer stood anywhere."""

    step: int
    results: int
    kept: int
    summary_chars: int
    facts: int
    lost: int


class RecordingShown(Value, frozen=True, kw_only=True):
    """The figures of a recording itself, the same for every strategy.

    `counted_tokens` and `reported_tokens` are ours and the provider's over all prompts that report usage, `error_tokens` the sum of the differences,
    `error_tokens_plain` that of the plain rule. `counting` is how tokens are counted, `not_calibrated` why no constants were fitted. `stated_usd` is
    what the recording says that it cost, `usage_usd` what its usage costs at listed prices, `our_usd` what its own strategy costs here. Trials of one
    `task` share it; copies of one recording share `steps_sha256`. `prompts_known`: the recording tells what its model was shown.
    """

    sha256: str
    steps_sha256: str = ""
    task: str = ""
    prompts_known: bool = True
    format: str = ""
    calls: int = 0
    results: int = 0
    cut_at_source: int = 0
    non_text: int = 0
    threads: int = 1
    model: str | None = None
    outcome: Outcome | None = None
    left_out: dict[str, int] = {}
    cuts: tuple[RecordedCut, ...] = ()
    cuts_total: int = 0
    cuts_needed: int = 0
    resets: tuple[RecordedReset, ...] = ()
    resets_total: int = 0
    counted_tokens: int = 0
    reported_tokens: int = 0
    error_tokens: int = 0
    error_tokens_plain: int = 0
    counting: Counting = Counting()
    reasoning: Reasoning = ""
    not_calibrated: str = ""
    stated_usd: float | None = None
    usage_usd: float | None = None
    our_usd: float | None = None


class Case(Value, frozen=True, kw_only=True):
    """One trace under every strategy: the rows (until a comparison takes them), and what reports show. It can be pickled, and does not grow with
    the trace.

    `runs` is by strategy. `losses` are those of metrics that gates judge, `causes` all losses grouped by what was lost. `results` are the worst
    results side by side. `prompts` is what a page needs to show any prompt (compressed JSON; b"" where that was not asked for or is too much).
    `questions_sha256` is of what a scenario asks of this trace beyond what it says itself. `abridged`: its results and prompts were let go, because
    there are many cases and others matter more.
    """

    id: str
    recording: RecordingShown
    questions_sha256: str = ""
    rows: tuple[Row, ...] = ()
    runs: dict[str, RunShown] = {}
    losses: tuple[Losses, ...] = ()
    causes: tuple[Cause, ...] = ()
    results: tuple[ResultShown, ...] = ()
    results_damaged: int = 0
    results_needed: int = 0
    prompts: bytes = b""
    abridged: bool = False

    def losses_of(self, strategy: str, metric: str) -> Losses | None:
        """The losses that a metric found under a strategy; None where none were kept."""
        return next((item for item in self.losses if (item.strategy, item.metric) == (strategy, metric)), None)
