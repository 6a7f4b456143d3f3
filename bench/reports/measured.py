"""The first screen of a scenario about stores, evaluators or routers: the figures of what they keep."""

from __future__ import annotations

from .blocks import TONE_OF, Figure, Figures, Tone
from .charts import Bars
from .labels import label, sentence_case
from .numbers import count, quantity
from .reading import REFUSED, Reading


def measured_figures(reading: Reading) -> Figures:
    """Best, today, worst, with a bar by strategy."""
    metric, today = reading.measure, reading.compared.today
    order = ("advised", "other", "rejected", "today")
    values = [(value, item.strategy) for item in reading.ranked if (value := reading.value(item.strategy, metric)) is not None]  # fmt: skip
    values.sort(key=lambda pair: (-pair[0], order.index(reading.mark(pair[1]))))
    name = sentence_case(label(metric, reading.info(metric)))

    def figure(title: str, value: float, strategy: str, tone: Tone = "") -> Figure:
        return Figure(title, quantity(value, reading.unit(metric)), tone, name, reading.counts(strategy, metric))

    (most, best), (least, worst) = values[0], values[-1]
    advised = best == reading.advice.advised
    items = [figure(f"Best: {reading.title(best)}", most, best, "good" if advised else "")]
    items += [figure("Today", value, who) for value, who in values if who == today != best]
    if worst not in (best, today):
        items.append(figure(f"Lowest: {worst}", least, worst, TONE_OF[reading.mark(worst)]))
    if len(items) < 3:
        tried = [item for item in reading.ranked if item.strategy != today]
        kept = sum(item.verdict not in REFUSED for item in tried)
        items.append(Figure("Within limits", f"{count(kept)} of {count(len(tried))}", "", "strategies"))
    top = 1.0 if reading.unit(metric) == "fraction" else max(abs(most), 1e-12)
    bars = tuple(
        (reading.title(who), max(0.0, value) / top, quantity(value, reading.unit(metric)), reading.mark(who))
        for value, who in values
    )
    alt = f"{name}: " + "; ".join(f"{who} {text}" for who, _, text, _ in bars[:8])
    return Figures(tuple(items), name, Bars(alt, bars))
