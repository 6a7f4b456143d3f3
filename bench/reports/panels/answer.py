"""The answer: a sentence, three figures, a chart, a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from ...comparison.reasons import (
    as_shown,
    basis_in_words,
    handles_in_words,
    interval_in_words,
    loss_in_words,
    refused_by,
)
from ...comparison.rules import asked_by, measure_of, merit, slots_in_spec
from ...comparison.sentence import (
    cache_in_words,
    figures_of,
    is_unknown_today,
    todays_in_words,
)
from ...comparison.wording import means
from ...model.advice import REFUSED, Price, Ranked, RuleResult
from ...model.errors import SpecError
from ...plugins.registry import entries
from ...plugins.spec import parse_spec
from ..blocks import (
    TONE_OF,
    Block,
    Cell,
    Figure,
    Figures,
    Prose,
    Section,
    Span,
    Table,
    Text,
    Tone,
    muted,
    table,
)
from ..charts import Axis, Mark, Range
from ..numbers import change, count, counted, listed, percent, sentence_case, unseen
from ..reading import IN_TOKENS, MISSED_TURN, OLD_FACT, REPLAY_LIMIT, VERDICT, Reading
from ..scatter import scatter

_USES = {
    "summarizer": "rewrite each tool result",
    "compactor": "shorten the conversation before each model call",
    "store": "store its results",
    "evaluator": "judge each step",
    "routers": "choose the next step",
    "consumer": "reply to each result",
}
"""What an agent does with the code in each slot."""
_TO_SHIP = (
    "To ship, a strategy must be certainly better than today, or as good and certainly cheaper."
)
_JUDGEMENT = (
    "A judgement changes if a strategy's evaluator judges a result as it is stored otherwise than"
    " the whole result; an evaluator that judges fewer results has fewer judgements."
)
_PLAIN = (int, float, str)  # the types of the settings whose values are in a text


def sections(reading: Reading) -> Iterator[Section]:
    """The first screen."""
    yield Section("answer", "Answer", "Answer", tuple(_blocks(reading)))


def _blocks(reading: Reading) -> Iterator[Block]:
    """Yield the blocks of the answer."""
    yield Prose(_answer(reading.advice.sentence), "lead")
    if not reading.ranked:
        return
    if use := _use(reading):
        yield Prose(use, "use")
    yield muted(" ".join(_notes(reading)))
    answers = reading.compared.answers
    figures = () if answers == "savings" else figures_of(reading.advice, answers)
    if figures:
        yield Figures(tuple(_measures(reading, figures)))
        yield _measures_table(reading, figures)
    else:
        yield Figures(tuple(_savings(reading)), scatter(reading))
        yield _prices_and_losses(reading)


def _answer(sentence: str) -> Text:
    """The sentence of the advice with its verdict in bold."""
    clause = VERDICT.search(sentence)
    if clause is None:
        return (Span(sentence, strong=True),)
    tones: dict[str, Tone] = {"Ship": "good", "Do": "bad"}
    tone = tones.get(clause[0].partition(" ")[0], "")
    start, end = clause.span()
    return sentence[:start], Span(clause[0], tone, strong=True), sentence[end:]


def _use(reading: Reading) -> str:
    """What to do to use the advised strategy; "" where none is advised, or its spec is not
    known."""
    advised = reading.advice.advised or ""
    try:
        slots = slots_in_spec(reading.spec(advised))
        steps = [
            f"{words} with `{slots[slot]}`{_gives(slot, slots[slot])}"
            for slot, words in _USES.items()
            if slot in slots
        ]
    except SpecError:
        return ""
    return f"To use `{advised}`, let your agent {', and '.join(steps)}." if steps else ""


def _gives(slot: str, code: str) -> str:
    """What code that ships gives, in the first sentence of its docstring, with the values of its
    settings; "" for any other code."""
    spec = parse_spec(code.strip("[]"))
    plugin = entries(slot.removesuffix("s")).get(spec.target)
    if plugin is None:
        return ""
    settings = {name: item.default for name, item in plugin.parameters.items()} | dict(spec.params)
    values = {f"`{it}`": str(value) for it, value in settings.items() if type(value) in _PLAIN}
    first = " ".join(plugin.doc.split()).partition(". ")[0].rstrip(".")
    text = re.sub(r"`\w+`", lambda name: values.get(name[0], name[0]), first)
    return f", which gives {text[:1].lower()}{text[1:]}"


# ---------------------------------------------------------------- figures


_UNSEEN = "not measured: whether tasks succeed"


def _savings(reading: Reading) -> Iterator[Figure]:
    """Yield the figures on the strategy that the sentence is about: why it is refused, or what it
    saves and misses; certainty."""
    item = reading.subject or (reading.tried or reading.ranked)[0]
    if item.verdict in REFUSED and item.failed:
        yield _refused_figure(reading, item, item.failed)
    yield _price_figure(reading, item)
    if item.missed_turns is not None and item.verdict not in REFUSED:
        yield _missed_figure(reading, item)
    yield _certainty_figure(reading, item)


def _refused_figure(reading: Reading, item: Ranked, failed: RuleResult) -> Figure:
    """What the first rule that refuses a strategy measures, with the reason and the interval."""
    shown = as_shown(failed)
    value = count(shown.value) if asked_by(shown).noun else percent(shown.value)
    name = f"{sentence_case(measure_of(failed))} with `{item.strategy}`"
    line = f"not shipped: {refused_by(item, reading.advice, failed)}"
    note = [basis_in_words(shown, reading.advice), interval_in_words(shown)]
    return Figure(name, value, "bad", line, "; ".join(filter(None, note)))


def _price_figure(reading: Reading, item: Ranked) -> Figure:
    """The change of price under a strategy; today's price if it changes nothing."""
    pricing, price, today = reading.pricing, reading.price(item), reading.today
    if "inactive" in item.marks or price is None or not price.ratio:
        name = "Tokens today" if reading.counts_tokens else "Price today"
        line = ", ".join(filter(None, [pricing.unit, pricing.economy]))
        return Figure(name, pricing.money(today or price), "", line)
    start = f"{pricing.money(today)} → " if today else ""
    interval = f"95% interval {reading.interval(price)}" if price.interval else ""
    there = "" if item.verdict in REFUSED else cache_in_words(item)
    note = "; ".join(filter(None, [interval, there, handles_in_words(item)]))
    is_plain = item.condition or item.verdict in REFUSED
    tone: Tone = "" if is_plain else TONE_OF[reading.mark(item.strategy)]
    line = f"{start}{pricing.in_words(price)}"
    return Figure(f"Change with `{item.strategy}`", change(price.ratio), tone, line, note)


def _missed_figure(reading: Reading, item: Ranked) -> Figure:
    """The missed turns of a strategy and the old facts that it keeps, with the limits and what they
    may be on other tasks; the worst run."""
    results, advice = {rule.rule: rule for rule in item.rules}, reading.advice
    needed, far = results.get("needed"), results.get("far")
    line = loss_in_words(needed, advice, named=False) if needed else ""
    if far and item.far_recall is not None:
        line += f"; {loss_in_words(far, advice)}"
    note = ""
    if needed and needed.value and needed.interval:
        runs = (run for run in reading.runs if run.id == needed.worst_run)
        worst = max(reading.at(run, item.strategy, needed.metric) or 0.0 for run in runs)
        mean = "; the limit is for the mean" if worst > (needed.limit or 0.0) else ""
        note = f"worst run: {reading.name(needed.worst_run)} misses {percent(worst)} of its turns{mean}"
    is_safe = item.strategy == advice.advised and not item.reason  # no loss is uncertain
    name = f"Missed turns with `{reading.title(item.strategy)}`"
    return Figure(name, percent(item.missed_turns), "good" if is_safe else "", line, note)


def _certainty_figure(reading: Reading, item: Ranked) -> Figure:
    """The number of runs (or tasks) behind the answer, and what they cannot show."""
    note = f"{unseen(reading.sample, reading.advice.cannot_rule_out)}; {_UNSEEN}".removeprefix("; ")
    tone = TONE_OF["advised" if item.strategy == reading.advice.advised else "other"]
    needed = next((rule for rule in item.rules if rule.rule == "needed" and rule.of), None)
    turns = counted(needed.of or 0, "turn") if needed else ""
    size = "" if reading.size == reading.sample else reading.size
    line = ", ".join(filter(None, [size, turns]))
    return Figure("Measured on", reading.sample, tone, line, note)


def _measures(reading: Reading, found: Sequence[tuple[Ranked, RuleResult]]) -> Iterator[Figure]:
    """The figures about stores, evaluators or routers: the best, its saving, runs."""
    item, figure = max(found, key=lambda pair: merit((pair[1],), pair[1].rule))
    shown = as_shown(figure)
    equal = [f"`{one.strategy}`" for one, it in found if it.value == figure.value]
    line = f"{sentence_case(measure_of(figure))}; {todays_in_words(item, figure)}"
    name = f"Best on these runs: {listed(equal)}"
    tone = TONE_OF[reading.mark(item.strategy)]
    yield Figure(name, percent(shown.value), tone, line, interval_in_words(shown))
    if reading.shapes_prompts(item):
        yield _price_figure(reading, item)
    yield _certainty_figure(reading, item)


# ---------------------------------------------------------------- table


def _prices_and_losses(reading: Reading) -> Table:
    """The table of strategies with prices, the interval of the deciding price, and missed turns."""
    uncached = reading.advice.basis == "uncached"
    other = "cached" if uncached else "uncached"
    prices = [price for item in reading.ranked if (price := reading.price(item))]
    ends = [end - 1 for price in prices for end in price.interval or ()]
    scale = Axis(min(-0.02, *ends) * 1.1, max(0.02, *ends) * 1.1) if ends else None
    heads: list[str | tuple[str, str]] = [
        (reading.price_axis, "tokens" if reading.counts_tokens else "price"),
        "95% interval of each alone (dotted line: today)",
        ("with cache", "cache") if uncached else ("without cache", "no cache"),
        ("missed turns", "missed"),
        ("old facts kept", "old facts"),
    ]

    def cells(item: Ranked) -> list[Cell]:
        price = reading.price(item)
        mark, beside = reading.mark(item.strategy), item.price(other)
        chart = None
        if scale and mark == "today":
            chart = Range("today", 0.0, (0.0, 0.0), scale, mark)
        elif scale and price and price.interval and price.ratio:
            low, high = price.interval
            around, alt = (low - 1, high - 1), reading.interval(price)
            chart = Range(alt, price.ratio - 1, around, scale, mark)
        return [
            _price_cell(reading, price, mark, "" if item.condition else TONE_OF[mark]),
            Cell(chart=chart),
            _price_cell(reading, None if reading.counts_tokens else beside, mark, ""),
            _missed_cell(item),
            Cell("–" if item.far_recall is None else percent(item.far_recall)),
        ]

    return _strategies(reading, heads, cells)


def _price_cell(reading: Reading, price: Price | None, mark: Mark, tone: Tone) -> Cell:
    """A cell with a price and its change against today."""
    if price is None:
        return Cell("–")
    return Cell(reading.pricing.money(price), "" if mark == "today" else change(price.ratio), tone)


def _missed_cell(item: Ranked) -> Cell:
    """A cell with the missed turns of a strategy, and the turns that would fetch by a handle."""
    missed = "–" if item.missed_turns is None else percent(item.missed_turns)
    return Cell(missed, f"{count(item.handle_turns)} by handle" if item.handle_turns else "")


def _measures_table(reading: Reading, found: Sequence[tuple[Ranked, RuleResult]]) -> Table:
    """The table of strategies with the measure that answers a scenario not about savings; without
    prices and losses if every prompt is today's."""
    is_shaped = any(map(reading.shapes_prompts, reading.ranked))
    results = {item.strategy: result for item, result in found}
    figure = found[0][1]

    def cells(item: Ranked) -> list[Cell]:
        todays = replace(figure, value=reading.value(item.strategy, figure.metric), of=None)
        result = as_shown(results.get(item.strategy, todays))
        mark, price = reading.mark(item.strategy), reading.price(item)
        basis = basis_in_words(result, reading.advice)
        cost = _price_cell(reading, price if is_shaped else None, mark, "")
        missed = _missed_cell(item) if is_shaped else Cell("–")
        return [Cell(percent(result.value), basis), cost, missed]

    heads = measure_of(figure), reading.price_axis, ("missed turns", "missed")
    return _strategies(reading, heads, cells)


def _strategies(
    reading: Reading,
    heads: Sequence[str | tuple[str, str]],
    cells: Callable[[Ranked], Sequence[Cell]],
) -> Table:
    """The table of strategies: mark, name, spec, columns of numbers, verdict.

    Where many strategies changed nothing, its caption names them.
    """
    rows = []
    for item in reading.ranked:
        if item.strategy in reading.inactive:
            continue
        mark = reading.mark(item.strategy)
        about = "what runs today" if mark == "today" else reading.spec(item.strategy)
        name = Cell(reading.title(item.strategy), about, mark=mark)
        words: str = "also acceptable" if mark == "acceptable" else item.verdict
        if mark == "today" and words == "keep" and reading.failed_gates:
            words = "as recorded"
        elif mark == "today" and words == "keep" and reading.advice.advised:
            words = "in use"
        is_alone = any(map(is_unknown_today, reading.ranked)) and mark in ("today", "other")
        if is_alone and words in ("keep", "not certain"):
            words = "not recorded" if mark == "today" else "not compared with today"
        is_quiet = words in ("also acceptable", "in use", "as recorded")
        words = f"{words} {item.condition}" if item.verdict == "ship" else words
        verdict = Cell((Span(words, TONE_OF[mark], strong=not is_quiet),), item.reason)
        rows.append([name, *cells(item), verdict])
    note = ""
    if names := reading.inactive:
        many = counted(len(names), "more strategy", "more strategies")
        note = f"{many} changed nothing on these runs: {listed([f'`{name}`' for name in names])}."
    return table("All strategies", ["strategy", *heads, ("verdict", "")], rows, note=note)


def _notes(reading: Reading) -> Iterator[str]:
    """Yield sentences on prices and cache shares, the bases of numbers, and the limit of replay."""
    has_column = reading.compared.answers == "savings"
    is_shaped = has_column or any(map(reading.shapes_prompts, reading.ranked))
    if not is_shaped:
        yield "The prompts and the price stay as they are."
    shares = {run.facts.cache_shares for run in reading.runs}
    if reading.advice.basis in ("cached", "uncached"):
        if "assumed" in shares:
            yield "Cache shares are assumed from the provider's rules, since these recordings hold no usage."
        elif "recorded" in shares:
            yield "Prices count the recorded cache; text after a change is billed in full."
    yield f"Percentages are {means(reading.advice)}."
    if is_shaped:
        most = reading.limit("needed")
        end = "" if most is None else f"; to ship, on average at most {percent(most)} may be missed"
        yield f"{MISSED_TURN}{end}."
    named = (item for item in reading.ranked if has_column or "old facts" in item.reason)
    if any(item.far_recall is not None for item in named):
        least = reading.limit("far")
        end = (
            "" if least is None else f"; to ship, on average at least {percent(least)} must be kept"
        )
        yield f"{OLD_FACT}{end}."
    if reading.counts_tokens and is_shaped and "`--model`" not in reading.advice.sentence:
        yield IN_TOKENS
    if reading.compared.answers == "judged":
        yield _JUDGEMENT
    if not has_column:
        yield f"{_TO_SHIP} {REPLAY_LIMIT}"
