"""The policies of agents and libraries on public recordings: what each saves, and what it loses.

    python benchmarks/leaderboard.py NAME=PATH... [--most 12] > docs/leaderboard.md

NAME is a corpus of `leaderboard.toml`, which says where it comes from; PATH its recordings, in any
format that the bench reads, or with a reader before it. `--most` takes so many runs of each corpus, in the order of the files.
Every policy runs at its defaults, and beside them the setting that the portfolio chooses.
"""

from __future__ import annotations

import argparse
import hashlib
import tomllib
from collections.abc import Iterator
from pathlib import Path

import bench
from bench.model import Trace
from bench.model.advice import TODAY, Advice, Price, Ranked
from bench.model.errors import TraceError
from bench.plugins.registry import entries

FOLDER = Path(__file__).parent
SLOTS = ("summarizer", "compactor")
VERDICTS = ("ship", "keep", "not certain", "no gain", "loses too much", "unfaithful", "invalid")
HEAD = """\
# Leaderboard

The policies of agents and libraries at their defaults, on public recordings, and the setting that
`bench run` chooses there by itself. A price is a share of the price of what ran when the recording
was made: 0.80 is a fifth less. In brackets stands the upper end of its one-sided 97.5% interval over
tasks, where it can be had. *Cached* is with the provider's prompt cache, *uncached*
without. *Missed* are turns that would have missed something they used; *old facts* came six or
more turns before. What the verdicts mean is in [report.md](report.md), and what the figures cannot
say in [validity.md](validity.md).
"""


def policies() -> dict[str, str]:
    """The specs of all policies that need no setting, by name."""
    return {
        entry.name: f"{slot}={entry.name}"
        for slot in SLOTS
        for entry in entries(slot).values()
        if ".policies." in f"{getattr(entry.target, '__module__', '')}."
        and not any(item.default is item.empty for item in entry.parameters.values())
    }


def digest(traces: tuple[Trace, ...]) -> str:
    """A hash of what some recordings say, the same whatever file they stand in."""
    return hashlib.sha256("".join(trace.sha256 for trace in traces).encode()).hexdigest()[:12]


def price(value: Price | None) -> str:
    """A price as a ratio to today's, with the upper end of its interval.

    >>> price(Price(unit="usd", per_run=1.0, ratio=0.5, high=0.75)), price(None)
    ('0.50 (0.75)', '–')
    """
    if value is None or value.ratio is None:
        return "–"
    return f"{value.ratio:.2f}" + ("" if value.high is None else f" ({value.high:.2f})")


def share(value: float | None) -> str:
    """A share in percent; a dash where nothing was measured."""
    return "–" if value is None else f"{value:.1%}"


def chosen(advice: Advice) -> Ranked | None:
    """The strategy that a portfolio chooses: the advised one, else its best that is not today's."""
    others = [item for item in advice.ranked if item.strategy != TODAY]
    advised = [item for item in others if item.strategy == advice.advised]
    best = sorted(others, key=lambda item: VERDICTS.index(item.verdict))
    return next(iter(advised + [item for item in best if "inactive" not in item.marks]), None)


def row(name: str, item: Ranked) -> str:
    """One line of the table."""
    far = share(item.far_recall)
    return (
        f"| {name} | {item.verdict} | {price(item.price)} | {price(item.uncached)} "
        f"| {share(item.missed_turns)} | {far} |"
    )


def section(name: str, path: str, most: int) -> Iterator[str]:
    """The part of the page about one corpus. SystemExit with one line for an unknown one, and where
    no reader reads it."""
    origins = tomllib.loads((FOLDER / "leaderboard.toml").read_text(encoding="utf-8"))
    if name not in origins:
        raise SystemExit(f"{name}: is not in leaderboard.toml — write one of {', '.join(origins)}")
    origin = origins[name]
    try:
        traces = bench.load([path]).traces[:most]
    except TraceError as error:
        raise SystemExit(str(error)) from None
    specs = [f"{policy}={spec}" for policy, spec in policies().items()]
    at_defaults = bench.compare(traces, specs, title=name).advice
    portfolio = bench.compare(traces, title=name).advice
    assert at_defaults is not None
    assert portfolio is not None
    url = f"https://github.com/{origin['source']}/tree/{origin['commit']}"
    yield f"## {name}\n"
    origin_link = f"[{origin['source']}]({url})"
    yield f"Runs: {at_defaults.runs}. Tasks: {at_defaults.tasks}. From {origin_link}, hash `{digest(traces)}`."
    units = {item.price.unit for item in at_defaults.ranked if item.price is not None}
    unpriced = "No price of the model is known: tokens, which are the same without the cache."
    yield "" if "usd" in units else f"{unpriced}\n"
    best = chosen(portfolio)
    rows = [] if best is None else [row(f"**portfolio:** `{best.spec or best.strategy}`", best)]
    listed = [item for item in at_defaults.ranked if item.strategy in policies()]
    rows += [row(f"`{item.strategy}`", item) for item in listed if "inactive" not in item.marks]
    if rows:
        yield "| policy | verdict | cached | uncached | missed | old facts kept |"
        yield "|---|---|---:|---:|---:|---:|"
        yield from rows
    still = [f"`{item.strategy}`" for item in listed if "inactive" in item.marks]
    yield f"\nNever acted: {', '.join(still) or 'none'}.\n"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", metavar="NAME=PATH")
    parser.add_argument("--most", type=int, default=12)
    asked = parser.parse_args()
    corpora = [item.partition("=")[::2] for item in asked.corpora]
    print(HEAD)
    readers = [path.rpartition(":") for _, path in corpora]
    places = [f"{reader}{colon}PATH" for reader, colon, _ in readers]
    named = " ".join(f"{name}={place}" for (name, _), place in zip(corpora, places, strict=True))
    print(f"Measured with version {bench.__version__}:\n")
    print(
        f"    python benchmarks/leaderboard.py {named} --most {asked.most} > docs/leaderboard.md\n"
    )
    for name, path in corpora:
        print("\n".join(section(name, path, asked.most)), flush=True)


if __name__ == "__main__":
    main()
