"""One strategy at several settings: what each costs and keeps, and which no other one beats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..model import Comparison
from ..plugins.spec import RawValue, format_value, parse_spec, parse_value, split_top

RECALL = "needed.recall"
COST = "cost.prompt_tokens"
Settings = dict[str, RawValue]


@dataclass(frozen=True)
class Setting:
    """One strategy of a sweep: `values` as `keep_last=5`, what it costs and keeps (None: not measured), and whether it is on the front."""

    strategy: str
    values: str
    cost: float | None
    kept: float | None
    on_front: bool


@dataclass(frozen=True)
class Sweep:
    """Declared strategies that differ in nothing but settings. `plugin` is what they have in common, `settings` in the order of their values."""

    plugin: str
    names: tuple[str, ...]
    settings: tuple[Setting, ...]


def sweeps(comparison: Comparison, cost: str) -> tuple[Sweep, ...]:
    """The sweeps of a comparison, in the order declared. `cost` is the metric of the price. `()` for none.

    >>> from bench.metrics import example
    >>> from bench.run.verbs import compare
    >>> (found,) = sweeps(compare([example().trace], ["cut=summarizer=truncate:limit=80|200"]), "cost.prompt_tokens")
    >>> found.plugin, found.names, [setting.values for setting in found.settings]
    ('summarizer=truncate', ('limit',), ['limit=80', 'limit=200'])
    """
    groups: dict[tuple[str, tuple[str, ...]], dict[str, Settings]] = {}
    for name in comparison.strategies:
        spec = comparison.signature.strategies.get(name, "")[len(name) + 1 :]
        plugins, settings = _apart(spec)
        groups.setdefault((plugins, tuple(settings)), {})[name] = settings
    found = []
    for (plugins, keys), members in groups.items():
        moved = [key for key in keys if len({settings[key] for settings in members.values()}) > 1]
        if moved:
            found.append(_sweep(comparison, cost, plugins, moved, members))
    return tuple(found)


def _sweep(
    comparison: Comparison, cost: str, plugins: str, moved: Sequence[str], members: dict[str, Settings]
) -> Sweep:
    points = [(name, comparison.value(name, cost), comparison.value(name, RECALL)) for name in members]
    best = pareto_front(points)
    values = {name: [f"{_short(key)}={format_value(of[key])}" for key in moved] for name, of in members.items()}
    settings = [Setting(name, ", ".join(values[name]), price, kept, name in best) for name, price, kept in points]
    order = {name: tuple(_number(members[name][key]) for key in moved) for name in members}
    return Sweep(plugins, tuple(map(_short, moved)), tuple(sorted(settings, key=lambda item: order[item.strategy])))


def pareto_front(points: Sequence[tuple[str, float | None, float | None]]) -> tuple[str, ...]:
    """The names of those that no other one beats in cost and in what it keeps, cheapest first; `()` where fewer than two have both.

    >>> pareto_front([("a", 1.0, 0.5), ("b", 2.0, 0.4), ("c", 3.0, 0.9), ("d", None, 1.0)])
    ('a', 'c')
    """
    known = sorted((cost, -kept, name) for name, cost, kept in points if cost is not None and kept is not None)
    if len(known) < 2:
        return ()
    return tuple(
        name
        for cost, lost, name in known
        if not any((c, k) != (cost, lost) and c <= cost and k <= lost for c, k, _ in known)
    )


def _apart(spec: str) -> tuple[str, Settings]:
    """A strategy's spec without its settings, and the settings by slot and name.

    >>> _apart("compactor=summarize_old:max_tokens=900,writer=empty+store=full")
    ('compactor=summarize_old + store=full', {'compactor.max_tokens': '900', 'compactor.writer': 'empty'})
    """
    plugins, settings = [], {}
    for slot, written in _slots(spec):
        found = parse_spec(written)
        plugins.append(f"{slot.partition('[')[0]}={found.target}" + (f":{found.attribute}" if found.attribute else ""))
        settings.update({f"{slot}.{key}": value for key, value in found.params})
    return " + ".join(plugins), settings


def _slots(spec: str) -> Iterator[tuple[str, str]]:
    for part in split_top(spec, "+") if spec else []:
        slot, _, written = part.partition("=")
        value = parse_value(written, spec) if written.startswith("[") else written
        several = ((f"{slot}[{n}]", text) for n, text in enumerate(value))
        yield from [(slot, value)] if isinstance(value, str) else several


def _short(key: str) -> str:
    return key.rpartition(".")[2]


def _number(value: RawValue) -> tuple[bool, float, str]:
    """The sort key of a setting: numbers by value, then words."""
    try:
        return False, float(str(value)), ""
    except ValueError:
        return True, 0.0, str(value)
