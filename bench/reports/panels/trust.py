"""Trust: what was read, left out and assumed; the limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...comparison.reasons import limit_in_words
from ...comparison.rules import TABLE, entry_of
from ...comparison.wording import against_reported
from ...model.base import grouped
from ...model.compared import Skipped
from ...text.wording import count, counted, listed, percent, sentence_case
from ..blocks import Block, Cell, Cells, Fold, Prose, Section, Table, code, headed, table
from ..reading import REPLAY_LIMIT, Reading

_FILES, _TEXTS = 10, 12
_OFF = 0.1  # a difference from the reported tokens that every output states


def sections(reading: Reading) -> Iterator[Section]:
    """A section on the limits, the data that was read, and the versions."""
    limits = [REPLAY_LIMIT, *reading.compared.notes]
    blocks: list[Block] = [Prose("Limits", "heading"), *map(Prose, limits)]
    blocks += [Prose("Read", "heading"), *_read(reading)]
    if files := reading.compared.skipped:
        others = [item for item in files if not item.damaged]
        others.sort(key=lambda item: "." not in item.path.rpartition("/")[2])  # such as LICENSE
        kinds = ("damaged file", reading.compared.damaged), ("file", others)
        blocks += (Prose(_not_read(kind, some), "unread") for kind, some in kinds if some)
        blocks.append(Fold("Files not read", (files_not_read(files),)))
    blocks += [Prose("Measured with", "heading"), *_measured_with(reading)]
    if rules := _rules(reading):
        blocks += headed(rules)
    blocks += _constant_texts(reading)
    yield Section("trust", "Trust", tuple(blocks))


def _read(reading: Reading) -> Iterator[Prose]:
    """The size of the data, and what of it was not read or is not known."""
    facts = [run.facts for run in reading.runs]
    if not facts:
        yield Prose("No recording.")
        return
    names = "turns", "results", "cut", "cut_unknown"
    turns, results, cut, unknown = (sum(getattr(it, name) for it in facts) for name in names)
    odd, left_out = [*not_understood(item.skipped for item in facts)], []
    if cut:
        known = f"the full text is recorded of {count(cut - unknown)}, and not of {count(unknown)}"
        if unknown in (0, cut):
            known = f"the full text is {'not ' if unknown else ''}recorded"
        left_out.append(f"The model saw {counted(cut, 'result')} only in part; {known}.")
    if unknown := sum(not item.prompts_known for item in facts):
        left_out.append(f"Of {counted(unknown, 'run')} the recorded prompts are not known.")
    size = f"{reading.size}, {counted(turns, 'model call')}, {counted(results, 'tool result')}."
    complete = [] if odd or left_out or reading.compared.skipped else ["Nothing was left out."]
    yield Prose(" ".join([size, *left_out, *complete]))
    yield from (Prose(text, "unread") for text in odd)


def _not_read(kind: str, files: Sequence[Skipped]) -> str:
    """How many files of a kind were not read, and why the first was not."""
    first, *others = files
    verb, more = ("were", f" and {count(len(others))} more") if others else ("was", "")
    return f"{counted(len(files), kind)} {verb} not read: `{first.path}` ({first.reason}){more}."


def not_understood(skipped: Iterable[Mapping[str, int]]) -> Iterator[str]:
    """Yield a sentence on the data that readers did not understand; none if all was. Rare kinds,
    such as damage, are first."""
    kinds: Counter[str] = Counter()
    for item in skipped:
        kinds.update(item)
    if kinds:
        ordered = sorted(kinds.items(), key=lambda item: (item[1], item[0]))
        names = [f"{count(many)} × {kind}" for kind, many in ordered]
        yield f"Not understood and left out: {listed(names)}."


def files_not_read(files: Sequence[Skipped]) -> Table:
    """The files that were not read, with the reasons; a row for those of one name and reason."""
    kinds = grouped(((it.path.rpartition("/")[2], it.reason.partition("'")[0]), it) for it in files)
    rows = []
    for first, *others in kinds.values():
        more = f"and {count(len(others))} more of this name" if others else ""
        rows.append((code(first.path), Cell(first.reason, more)))
    heads = ["file not read", "reason"]
    return table("Files not read", heads, rows, most=_FILES)


def _measured_with(reading: Reading) -> Iterator[Prose]:
    """Yield the versions of bench, token counts and prices, and the error of the counts against what
    providers reported."""
    facts, signature = [run.facts for run in reading.runs], reading.compared.signature
    encodings = listed(sorted({*signature.encodings.values()}))
    assumed = any(item.encoding_assumed for item in facts)
    guessed = ", assumed for models without a known encoding" if assumed else ""
    parts = [
        f"bench {signature.bench_version}, facts {signature.facts_version}",
        f"tokens by {encodings}{guessed}" if encodings else "",
        f"prices of {signature.prices_date}" if signature.prices_date else "",
    ]
    yield Prose(f"{sentence_case('; '.join(filter(None, parts)))}.")
    pairs = [(it.counted_tokens, it.reported_tokens) for it in facts if it.reported_tokens]
    counts, reported = (sum(pair[at] for pair in pairs) for at in (0, 1))
    if not reported:
        return
    off, wide = counts / reported - 1, sum(abs(ours - theirs) for ours, theirs in pairs) / reported
    text = "Prices and tokens count the recorded messages: "
    text += against_reported(counts / reported)
    if wide > max(_OFF, 2 * abs(off)):
        text += f", run by run {percent(wide)} off"
    yield Prose(f"{text}.", "unread" if wide > _OFF else "")


def _rules(reading: Reading) -> Table | None:
    """The table of the rules that were applied, in order: the limit of each, and the strategies
    that it refuses; None if nothing was compared."""
    rows: list[Cells] = []
    tried = reading.advice.tried
    for entry in TABLE:
        results = [it for item in tried for it in item.rules if entry_of(it) is entry]
        limits = sorted((it.limit, limit_in_words(it)) for it in results if it.limit is not None)
        if limits:
            ends = " to ".join(dict.fromkeys(text for _, text in (limits[0], limits[-1])))
            error = any(one.low is not None for one in results)
            refused = [
                it.strategy for it in tried if any(entry_of(one) is entry for one in it.broken)
            ]
            limit = Cell(ends, "measured error of the rule" if error else "")
            rows.append((entry.measure, limit, listed(refused) or "none"))
    unchecked = [item for item in tried if "not checked" in item.marks]
    if unread := [item.strategy for item in unchecked if item.verdict != "invalid"]:
        rows.append(("texts that could not be checked", "0", listed(unread)))
    heads = ["what is measured", "limit", "refuses"]
    return table("How it was decided", heads, rows) if rows else None


def _constant_texts(reading: Reading) -> Iterator[Block]:
    """Yield a table of the lines that most texts of a strategy in a run have; no rule reads them."""
    scores = [(score, run.id) for run in reading.runs for score in run.scores]
    texts = grouped(
        (text, (score.strategy, run))
        for score, run in scores
        if reading.advice.item(score.strategy)
        for text in score.constant_texts
    )
    if texts:
        title = "Lines in most texts that a strategy wrote in a run"
        rows = []
        for text, places in sorted(texts.items(), key=lambda item: (-len(item[1]), item[0])):
            names, runs = zip(*places, strict=True)
            many = f"{count(len({*runs}))} of {count(len(reading.runs))}"
            rows.append((listed([*dict.fromkeys(names)]), code(text[:500]), many))
        heads = ["strategies", "text", "runs"]
        yield Fold(title, (table(title, heads, rows, most=_TEXTS, noun="text"),))
