"""The answer: a sentence, three figures, a chart, a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ...comparison.reasons import interval_in_words, rule_failed
from ...comparison.rules import asked_by, slots_in_spec
from ...comparison.sentence import is_unknown_today
from ...comparison.wording import less_or_more, means
from ...model.advice import REFUSED, TODAY, Price, Ranked
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
from ..numbers import change, count, counted, listed, percent, quantity, sentence_case, unseen
from ..reading import MISSED_TURN, RATE, REPLAY_LIMIT, VERDICT, Reading
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
_PLAIN = (int, float, str)  # the types of the settings whose values are in a text
_FIRST_CLAUSE = re.compile(r".+?[.:;?](?=\s|$)", re.DOTALL)


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
    metric, values = reading.measured
    savings = reading.compared.answers == "savings" or not metric
    if savings:
        yield Figures(tuple(_savings(reading)), scatter(reading))
    else:
        yield Figures(tuple(_measures(reading, metric, values)))
    yield _prices_and_losses(reading) if savings else _measures_table(reading, metric)


def _answer(sentence: str) -> Text:
    """The sentence of the advice with its verdict in bold, or else its first clause."""
    clause = VERDICT.search(sentence) or _FIRST_CLAUSE.match(sentence)
    if clause is None:
        return (Span(sentence, strong=True),)
    tone: Tone = "good" if clause[0].startswith("Ship") else ""
    start, end = clause.span()
    rest = (sentence[:start], Span(clause[0], tone, strong=True), sentence[end:])
    return tuple(part for part in rest if part)


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
    """Yield the figures on the strategy that the sentence is about (why it is rejected, or what it
    saves and misses; certainty), and on the cheapest rejected one."""
    item = reading.subject or (reading.tried or reading.ranked)[0]
    if item.verdict in REFUSED:
        yield from _rejected_figure(reading, item, f"Why `{item.strategy}` is rejected")
    yield _price_figure(reading, item)
    if item.missed_turns is not None and item.verdict not in REFUSED:
        yield _missed_figure(reading, item)
    yield _certainty_figure(reading, item)
    if reading.rejected not in (None, item):
        name = f"Cheapest rejected: `{reading.rejected.strategy}`"
        yield from _rejected_figure(reading, reading.rejected, name)


def _rejected_figure(reading: Reading, item: Ranked, name: str) -> Iterator[Figure]:
    """Yield the value of the first rule that refuses a strategy, and its interval; for another one
    than the subject what it would have saved."""
    failed = next((rule for rule in item.rules if not rule.passed), None)
    if failed is None:
        return
    price, is_count = reading.price(item), asked_by(failed).noun
    value = count(failed.value) if is_count else percent(failed.value)
    why = rule_failed(failed, quoting=False).removeprefix(f"{value} ")
    note = interval_in_words(failed) if failed.metric else ""
    if item is not reading.subject and price and price.ratio:
        perhaps = "" if price.certain or not price.saves else "perhaps "
        why += f" ({note})" if note else ""
        why, note = f"{why}; it would {perhaps}have cost {less_or_more(price)}", ""
    yield Figure(name, value, "bad", why, note)


def _price_figure(reading: Reading, item: Ranked) -> Figure:
    """The change of price under a strategy; today's price if it changes nothing."""
    pricing, price, today = reading.pricing, reading.price(item), reading.today
    if "inactive" in item.marks or price is None or not price.ratio:
        name = "Tokens today" if reading.counts_tokens else "Price today"
        line = ", ".join(filter(None, [pricing.unit, pricing.economy]))
        return Figure(name, pricing.money(today or price), "", line)
    start = f"{pricing.money(today)} → " if today else ""
    note = f"95% interval {reading.interval(price)}" if price.interval else ""
    tone: Tone = "" if item.verdict in REFUSED else TONE_OF[reading.mark(item.strategy)]
    line = f"{start}{pricing.in_words(price)}"
    return Figure(f"Change with `{item.strategy}`", change(price.ratio), tone, line, note)


def _missed_figure(reading: Reading, item: Ranked) -> Figure:
    """The missed turns of a strategy and the old facts that it keeps, with the limits."""
    known, far = item.missed_turns, item.far_recall
    basis = reading.basis(item.strategy, RATE)
    turns = "" if "turns" in basis else " turns"
    line = f"{basis}{turns}{reading.limit('needed', ' ({})')}"
    if far is not None:
        line += f"; old facts kept: {percent(far)}{reading.limit('far', ' ({})')}"
    doubts = [*_doubts(reading, item)]
    is_safe = item.strategy == reading.advice.advised and "perhaps" not in "".join(doubts)
    tone: Tone = "good" if is_safe else ""
    name = f"Missed turns with `{reading.title(item.strategy)}`"
    return Figure(name, percent(known), tone, line, "; ".join(doubts))


def _doubts(reading: Reading, item: Ranked) -> Iterator[str]:
    """Yield the interval of the missed turns and their share in the worst run, where known."""
    needed = next((rule for rule in item.rules if rule.rule == "needed"), None)
    if needed is None or needed.interval is None or needed.limit is None:
        return
    above = ", perhaps above the limit" if needed.interval[1] > needed.limit else ""
    yield f"{interval_in_words(needed)}{above}"
    worst = reading.value_in(needed.worst_run, item.strategy, needed.metric)
    yield f"worst run: {reading.name(needed.worst_run)} ({percent(worst)})"


def _certainty_figure(reading: Reading, item: Ranked) -> Figure:
    """The number of runs (or tasks) behind the answer, if they make its gain certain, and what
    they cannot show."""
    asked = {rule.rule for rule in item.rules}
    saves = reading.advice.basis != "quality" or "cheaper" in asked
    line, tone = f"no {'saving' if saves else 'gain'} to be certain of", TONE_OF["other"]
    note = unseen(reading.sample, reading.advice.cannot_rule_out)
    cheaper = f"; cheaper in {_cheaper_in(reading, item)}" if saves else ""
    if item.verdict in REFUSED:
        failed = next((rule for rule in item.rules if not rule.passed), None)
        low, high = (failed and failed.interval) or (0.0, 0.0)
        is_sure = failed is None or failed.limit is None or not low < failed.limit < high
        doubt = " for sure" if is_sure else ", but may be within the limit on others"
        line = f"`{item.strategy}` is rejected{doubt}"
        price = reading.price(item)
        if saves and price and price.saves and price.interval:
            line += f"; its saving is {'' if price.certain else 'not '}certain"
    elif item.strategy == reading.advice.advised:
        certain = "saves something" if saves else "is better"
        today = reading.by_name.get(TODAY)
        is_asked = today is None or today.verdict != "invalid"
        gain = f"certain that it {certain}" if is_asked else "what runs today is not valid"
        line, tone = f"{gain}{cheaper}", "good"
    elif item.verdict == "not certain":
        is_alone = is_unknown_today(item)
        line = item.reason if is_alone else f"not certain: {item.reason}{cheaper}"
        if "not checked" in item.marks and (price := reading.price(item)) and price.certain:
            line = f"certain that it saves something{cheaper}; but {item.reason}"
    needed = next((rule for rule in item.rules if rule.rule == "needed" and rule.of), None)
    turns = counted(needed.of or 0, "turn") if needed else ""
    size = "" if reading.size == reading.sample else reading.size
    line = "; ".join(filter(None, [", ".join(filter(None, [size, turns])), line]))
    return Figure(
        "Measured on", reading.sample, tone, line, f"{note}; {_UNSEEN}".removeprefix("; ")
    )


def _cheaper_in(reading: Reading, item: Ranked) -> str:
    """The runs in which a strategy costs less than what runs today, as much, and more: "9 of 12
    runs, the same in 1, dearer in 2"."""
    metric = reading.price_metric
    both = [[reading.at(run, it, metric) for it in (item.strategy, TODAY)] for run in reading.runs]
    known = [(now, today) for now, today in both if now is not None and today is not None]
    signs = [(now > today) - (now < today) for now, today in known]
    rest = [("the same", signs.count(0)), ("dearer", signs.count(1))]
    others = "".join(f", {words} in {count(many)}" for words, many in rest if many)
    return f"{count(signs.count(-1))} of {counted(len(signs), 'run')}{others}"


def _measures(
    reading: Reading, metric: str, measured: Sequence[tuple[str, float]]
) -> Iterator[Figure]:
    """The figures about stores, evaluators or routers: best, worst, the saving, runs."""
    line, unit, values = sentence_case(reading.label(metric)), reading.unit(metric), dict(measured)
    today = f"; today {quantity(values.get(TODAY), unit)}"
    is_kept = unit == "share" and reading.compared.metrics[metric].better == "higher"
    tried = [name for name, _ in measured if name != TODAY]
    best, worst = tried[0], tried[-1]
    if values[worst] != values[best]:
        titles = {best: f"Best: `{best}`", worst: f"Worst: `{worst}`"}
    else:
        names = listed([f"`{name}`" for name in tried])
        titles = {best: f"{names}{', equal' if len(tried) > 1 else ''}"}
    for name, title in titles.items():
        tone, basis = TONE_OF[reading.mark(name)], reading.basis(name, metric)
        others = (
            f"; not so for the other {percent(1 - values[name])}"
            if is_kept and values[name] < 1
            else ""
        )
        figure = next((it for it in reading.by_name[name].rules if it.metric == metric), None)
        basis = "; ".join(filter(None, [basis, interval_in_words(figure) if figure else ""]))
        yield Figure(title, quantity(values[name], unit), tone, line + others + today, basis)
    item = reading.by_name[best]
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
    scale = Axis(min(-0.02, *ends), max(0.02, *ends)) if ends else None
    heads: list[str | tuple[str, str]] = [
        (reading.price_axis, "tokens" if reading.counts_tokens else "price"),
        "95% interval (across the dotted line: perhaps no saving)",
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
        shares = (item.missed_turns, item.far_recall)
        return [
            _price_cell(reading, price, mark, TONE_OF[mark]),
            Cell(chart=chart),
            _price_cell(reading, None if reading.counts_tokens else beside, mark, ""),
            *(Cell("–" if share is None else percent(share)) for share in shares),
        ]

    return _strategies(reading, heads, cells)


def _price_cell(reading: Reading, price: Price | None, mark: Mark, tone: Tone) -> Cell:
    """A cell with a price and its change against today."""
    if price is None:
        return Cell("–")
    return Cell(reading.pricing.money(price), "" if mark == "today" else change(price.ratio), tone)


def _measures_table(reading: Reading, metric: str) -> Table:
    """The table of strategies with the measure that answers a scenario not about savings; without
    prices and losses if every prompt is today's."""
    is_shaped = any(map(reading.shapes_prompts, reading.ranked))

    def cells(item: Ranked) -> list[Cell]:
        value = quantity(reading.value(item.strategy, metric), reading.unit(metric))
        mark, price = reading.mark(item.strategy), reading.price(item)
        missed = percent(item.missed_turns) if is_shaped and item.missed_turns is not None else "–"
        basis = re.sub(r"^.+ of (?=.+)", "of ", reading.basis(item.strategy, metric))
        cost = _price_cell(reading, price if is_shaped else None, mark, "")
        return [Cell(value, basis), cost, Cell(missed)]

    heads = reading.label(metric), reading.price_axis, ("missed turns", "missed")
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
        tone = TONE_OF[mark]
        words: str = "also acceptable" if mark == "acceptable" else item.verdict
        is_alone = any(map(is_unknown_today, reading.ranked)) and mark in ("today", "other")
        words = "not compared" if is_alone and words in ("keep", "not certain") else words
        verdict = Cell((Span(words, tone, strong=mark != "acceptable"),), item.reason)
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
        yield "The prompts, and so the price, stay as they are."
    shares = {run.facts.cache_shares for run in reading.runs}
    if reading.advice.basis in ("cached", "uncached"):
        if "assumed" in shares:
            yield "Cache shares are assumed from the provider's rules, since these recordings hold no usage."
        elif "recorded" in shares:
            yield (
                "Prices count the provider's cache as recorded; text after a change is billed in full."
            )
    yield f"Percentages are {means(reading.advice)}."
    if is_shaped:
        yield f"{MISSED_TURN}{reading.limit('needed', '; on average {} may be missed')}."
    named = (item for item in reading.ranked if has_column or "old facts" in item.reason)
    if any(item.far_recall is not None for item in named):
        yield f"Old facts are from six or more turns back{reading.limit('far', '; {} must be kept')}."
    if not has_column:
        yield REPLAY_LIMIT
