"""The answer: a sentence, three figures, a chart, a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter

from ...comparison.reasons import (
    basis_in_words,
    details_in_words,
    figure_in_words,
    verdict_in_words,
)
from ...comparison.rules import entry_of, slots_in_spec
from ...comparison.wording import change, expected_in_words, means
from ...model.advice import REFUSED, Price, Ranked, RuleResult
from ...model.errors import SpecError
from ...plugins.registry import entries
from ...plugins.spec import parse_spec
from ...strategies.agent_code import code_lines
from ...text.wording import count, counted, listed, percent, sentence_case
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
from ..reading import IN_TOKENS, MISSED_TURN, OLD_FACT, REPLAY_LIMIT, Reading
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
_VERDICT = re.compile(r"(Ship .+?|Keep what runs today[^.:]*)[.:](?=\s|$)", re.DOTALL)
"""Matches the verdict in the sentence of an advice."""


def sections(reading: Reading) -> Iterator[Section]:
    """The first screen."""
    yield Section("answer", "Answer", tuple(_blocks(reading)))


def _blocks(reading: Reading) -> Iterator[Block]:
    """Yield the blocks of the answer."""
    yield Prose(_answer(reading.advice.sentence), "lead")
    if not reading.advice.ranked:
        return
    yield muted(f"{reading.measured_on()} {REPLAY_LIMIT}")
    figures, chart = tuple(_figures(reading)), None if reading.figure else scatter(reading)
    if figures or chart:
        yield Figures(figures, chart)
    if use := _use(reading):
        yield Prose(use, "use")
        if lines := code_lines(slots_in_spec(reading.spec(reading.advice.advised or ""))):
            yield Prose("\n".join(lines), "code")
    yield _strategies(reading)
    yield muted(" ".join(_notes(reading)))


def _answer(sentence: str) -> Text:
    """The sentence of the advice with its verdict in bold."""
    clause = _VERDICT.search(sentence)
    if clause is None:
        return (Span(sentence, strong=True),)
    tone: Tone = "good" if clause[0].startswith("Ship") else ""
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
    """What code that ships gives, by the first sentence of its docstring, and the file of what has
    no `code_lines`; "" for any other code."""
    plugin = entries(slot.removesuffix("s")).get(parse_spec(code.strip("[]")).target)
    if plugin is None:
        return ""
    text = " ".join(plugin.doc.split()).partition(". ")[0].rstrip(".")
    file = f"{plugin.target.__module__.replace('.', '/')}.py"
    where = "" if slot in ("summarizer", "compactor") else f" (its code: `{file}`)"
    return f", which gives {text[:1].lower()}{text[1:]}{where}"


# ---------------------------------------------------------------- figures


def _figures(reading: Reading) -> Iterator[Figure]:
    """Yield the figures on the strategy that the sentence is about: what it saves, what it misses
    or breaks; then the cheapest rejected one. A figure of stores, evaluators or routers comes
    first."""
    advice = reading.advice
    item = advice.item(advice.subject) or (advice.tried or advice.ranked)[0]
    figure = item.figure
    broken = item.failed if item.verdict in REFUSED else None
    if figure:
        yield _rule_figure(reading, item, figure)
    price = item.price
    if price is not None and price.ratio and (not figure or reading.shapes_prompts(item)):
        yield _price_figure(reading, item, price)
    rule = broken or item.result("needed")
    if rule and not figure and (broken or rule.value is not None):
        yield _rule_figure(reading, item, rule)
    rejected = _cheapest_rejected(reading)
    if rejected:
        yield _rejected_figure(reading, rejected)


def _cheapest_rejected(reading: Reading) -> Ranked | None:
    """The cheapest strategy that a rule refuses, if it is cheaper than today and the sentence is
    not about it; None where that is not about savings."""
    advice = reading.advice
    refused = (it for it in advice.tried if it.verdict in REFUSED and it.saves)
    others = (it for it in refused if it.strategy != advice.subject)
    priced = [(price.per_run, it) for it in others if (price := it.price)]
    return min(priced, key=itemgetter(0))[1] if priced and not reading.figure else None


def _rule_figure(reading: Reading, item: Ranked, rule: RuleResult) -> Figure:
    """What a rule measures of a strategy, with what stands behind it."""
    value = count(rule.value) if entry_of(rule).noun else percent(rule.value)
    measure = reading.label(rule.metric) if entry_of(rule).slot else entry_of(rule).measure
    name = f"{sentence_case(measure)} with `{item.strategy}`"
    line = details_in_words(item, rule, reading.advice) if entry_of(rule).figures else ""
    if not rule.passed:
        return Figure(name, value, "bad", line, f"not shipped: {item.reason}")
    is_safe = item.strategy == reading.advice.advised and not item.reason  # no loss is uncertain
    return Figure(name, value, "good" if is_safe else "", line)


def _price_figure(reading: Reading, item: Ranked, price: Price) -> Figure:
    """The change of price under a strategy."""
    interval = f"95% interval {reading.interval(price)}" if price.interval else ""
    expected = expected_in_words(item, reading.advice)
    note = "; ".join(filter(None, [interval, expected, item.condition]))
    is_plain = item.condition or item.verdict in REFUSED
    tone: Tone = "" if is_plain else TONE_OF[reading.mark(item.strategy)]
    line = reading.price_move(item)
    return Figure(f"`{item.strategy}` against today", change(price.ratio), tone, line, note)


def _rejected_figure(reading: Reading, item: Ranked) -> Figure:
    """The change of price under a strategy that a rule refuses, and the reason."""
    price, why = item.price, f"{verdict_in_words(item)}: {item.reason}"
    name, moved = f"Cheapest rejected: `{item.strategy}`", change(price.ratio if price else None)
    return Figure(name, moved, "bad", reading.price_move(item), why)


# ---------------------------------------------------------------- table


def _strategies(reading: Reading) -> Table:
    """The table of strategies: mark, name, spec; the figure that answers the question, prices with
    the interval of the deciding one, missed turns; verdict.

    Its caption names the strategies that do the same as today.
    """
    figure = reading.figure
    metric = figure.metric if figure else ""
    prices = [price for item in reading.advice.ranked if (price := item.price)]
    ends = [end - 1 for price in prices for end in price.interval or ()]
    scale = Axis(min(-0.02, *ends) * 1.1, max(0.02, *ends) * 1.1) if ends else None
    rows = []
    idle = (item for item in reading.advice.ranked if "inactive" in item.marks)
    inactive = [item.strategy for item in idle if not item.figure]
    for item in reading.advice.ranked:
        if item.strategy in inactive:
            continue
        mark, price = reading.mark(item.strategy), item.price
        about = "what runs today" if mark == "today" else reading.spec(item.strategy)
        row = [Cell(reading.title(item.strategy), about, mark=mark)]
        figures = (rule for rule in item.rules if entry_of(rule).slot)
        result = next((rule for rule in figures if rule.metric == metric), None)
        is_filled = result or mark == "today"
        number = reading.number(item.strategy, metric) if is_filled else None
        basis = basis_in_words(result, reading.advice) if result else ""
        row += [Cell(percent(number.value) if number else "–", basis)]
        if reading.is_shaped:
            tone: Tone = "" if item.condition or figure else TONE_OF[mark]
            row += [
                _price_cell(reading, price, mark, tone),
                Cell(chart=_range(reading, item, scale)),
            ]
            row += [_price_cell(reading, item.uncached, mark, ""), _missed_cell(item)]
            row += [Cell("–" if item.far_recall is None else percent(item.far_recall))]
        rows.append([*row, _verdict_cell(reading, item, mark)])
    heads: list[str | tuple[str, str]] = ["strategy", reading.label(metric)]
    if reading.is_shaped:
        heads += [
            (reading.price_axis, "tokens" if reading.counts_tokens else "price"),
            "95% interval of each alone (dotted line: today)",
            ("without cache", "no cache"),
            ("missed turns", "missed"),
            ("old facts kept", "old facts"),
        ]
    notes = ["Changes are against today, not the baseline."] if reading.against else []
    if inactive:
        many = counted(len(inactive), "more strategy does", "more strategies do")
        names = listed([f"`{it}`" for it in inactive])
        notes.append(f"{many} the same as today on these runs: {names}.")
    note = " ".join([*notes, *_shortened_today(reading)])
    return table("All strategies", [*heads, ("verdict", "")], rows, note=note)


def _shortened_today(reading: Reading) -> Iterator[str]:
    """Yield a sentence on what the recorded agent cut or shortened itself, if strategies start
    without that."""
    specs = " ".join(item.spec for item in reading.advice.tried)
    facts = [run.facts for run in reading.runs]
    cut = [it for it in facts if it.cut > it.cut_unknown and "summarizer=" in specs]
    shortened = [it for it in facts if it.shortened and "compactor=" in specs]
    did = [*["cut results"] * bool(cut), *["shortened its history"] * bool(shortened)]
    if did:
        many = len({it.sha256 for it in (*cut, *shortened)})
        yield (
            f"In {count(many)} of {counted(len(facts), 'run')} the recorded agent itself "
            f"{listed(did)}; a strategy replaces that, so where it changes nothing it can need "
            "more than today, or more than the window."
        )


def _verdict_cell(reading: Reading, item: Ranked, mark: Mark) -> Cell:
    """A cell with the verdict of a strategy and its reason."""
    words = "also acceptable" if mark == "acceptable" else verdict_in_words(item)
    if words == "keep" and (reading.advice.advised or reading.failed_gates):
        words = "in use"
    is_quiet = words in ("also acceptable", "in use")
    words = f"{words} {item.condition}" if item.verdict == "ship" else words
    figure, column = item.figure, reading.figure
    is_other = figure and figure.passed and figure.metric != (column.metric if column else "")
    other = figure_in_words(figure) if figure and is_other else ""
    note = "; ".join(filter(None, [other, item.reason, expected_in_words(item, reading.advice)]))
    return Cell((Span(words, TONE_OF[mark], strong=not is_quiet),), note)


def _range(reading: Reading, item: Ranked, scale: Axis | None) -> Range | None:
    """The interval of the price of a strategy as a chart; None without one."""
    mark, price = reading.mark(item.strategy), item.price
    if scale and mark == "today":
        return Range("today", 0.0, (0.0, 0.0), scale, mark)
    if scale is None or price is None or not price.ratio or price.interval is None:
        return None
    low, high = price.interval
    return Range(reading.interval(price), price.ratio - 1, (low - 1, high - 1), scale, mark)


def _price_cell(reading: Reading, price: Price | None, mark: Mark, tone: Tone) -> Cell:
    """A cell with a price and its change against today."""
    if price is None:
        return Cell("–")
    return Cell(reading.pricing.money(price), "" if mark == "today" else change(price.ratio), tone)


def _missed_cell(item: Ranked) -> Cell:
    """A cell with the missed turns of a strategy, and the turns that would fetch by a handle."""
    missed = "–" if item.missed_turns is None else percent(item.missed_turns)
    return Cell(missed, f"{count(item.handle_turns)} by handle" if item.handle_turns else "")


def _notes(reading: Reading) -> Iterator[str]:
    """Yield sentences on prices and cache shares, and on the bases of numbers."""
    if not reading.is_shaped:
        yield "The prompts and the price stay as they are."
    shares = Counter(run.facts.cache_shares for run in reading.runs)
    if not reading.counts_tokens:
        if shares["assumed"]:
            which = f"of {counted(shares['assumed'], 'run')} " if shares["recorded"] else ""
            why = "from the provider's rules: no use of the cache is recorded"
            yield f"Cache shares {which}are assumed {why}."
        if shares["recorded"]:
            yield "Prices count the recorded cache; text after a change is billed in full."
    yield f"Percentages are {means(reading.advice)}."
    if reading.is_shaped:
        yield f"{MISSED_TURN}."
    if reading.is_shaped and any(item.far_recall is not None for item in reading.advice.ranked):
        yield f"{OLD_FACT}."
    if reading.counts_tokens and reading.is_shaped:
        yield IN_TOKENS
