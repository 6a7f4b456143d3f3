"""Changed: a field of a rewritten result that has another value than the untruncated result, or a
key that it does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from ...model.scores import Check, Finding
from ...text.decode import NothingParsed, parse_prefix, plain_lines, unescape_cut
from ...text.facts import occurs
from ...text.field_list import is_prose
from ...text.fields import FieldTable
from ...text.identifiers import broken_identifiers
from ...text.instructions import is_denied, is_notice_word
from ...text.line_changes import ResultLines
from ...text.numbers import is_number
from ...text.quantities import is_quantity, same_value
from ...text.text_records import Pair, TextRecord, plain_key
from ..of_replay import ReplayEvidence
from .counts import Counts
from .dropped import dropped
from .gaps import OPENING
from .own import OwnText, check_of, gaps_shown, lines_shown, notices_of, own_texts
from .quoted import altered_quotes
from .repeated import repeated
from .statements import is_unsupported

_FIELD = re.compile(r"[\s\"'-]*([\w .-]+?)[\"']*\s*[:=]\s*[\"']*(.+?)[\"'\]}),\s]*")
_SCALAR = re.compile(r"[-+]?[$€£]?\d[\d.,]*\s?[%\w]{0,3}|true|false|yes|no", re.IGNORECASE)
_MORE = re.compile(r"(?:[,;]\s|\s\().*[A-Za-z].*", re.DOTALL)
_COUNTED = re.compile(r"(.+?) ?[(×] ?([1-9]\d{0,8})\)?")
_FEWEST_PAIRS = 3
_WORDS = re.compile(r"[\w:.@#-]*\w")
_CODE = re.compile(r"(?=\w*\d)(?=[\d_]*[^\W\d_])\w{6,}")


def changed(evidence: ReplayEvidence) -> Check:
    """Fields that a message shows otherwise than the tool returned them, over the rewritten
    structured results.

    A value is held against the record of the result that the shown record agrees with most, under
    the same key. A key may have the identity of its record in front (`W1 width: 3`). Fewer
    digits, separators, another layout or order, and text cut short are no change; a value that is
    absent is lost, not changed, but nothing at all in the place of a result says that it was empty,
    and rows left out without a word that there are no others. A line or record may not come more
    often than the result has it. A key that the result does not have is a change, unless a legend
    in the same text says what it stands for. A line of a text is changed where one of its words is
    replaced, an identifier cut or taken apart, or a denial dropped; so is what a person or the
    model said, a message of the user with fewer words and no mark too, and a recorded line in a
    text that mostly repeats such lines. So are altered arguments of a call, and a turn of the model
    that alone is dropped.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic errors of summaries)
    """
    findings: list[Finding] = []
    looked_at = 0
    for own in own_texts(evidence, blank=True):
        if own.result is not None and own.result.text.strip():
            looked_at += 1
            findings.append(Finding(own.message.step, "", own.result.text[:200]))
    for step in evidence.picked_out:
        turn = evidence.messages.messages[evidence.index.full[step]]
        if turn.kind in ("user", "model") and not turn.tool_calls:
            looked_at += 1
            findings.append(Finding(step, "", turn.text[:200]))
    for own in own_texts(evidence):
        if own.message.kind == "model":
            looked_at += 1
            findings += _changed_calls(evidence, own)
        if own.result is None:
            quotes = list(altered_quotes(evidence, own))
            looked_at += bool(quotes) and own.message.kind != "model"
            findings += quotes
            continue
        looked_at += 1
        known = evidence.session.changes
        if own.number not in known:
            known[own.number] = [
                *_changes(evidence, own),
                *repeated(evidence, own),
                *dropped(evidence, own),
            ]
        findings += known[own.number]
        if evidence.messages.contents.is_encoded(own.message):
            evidence.session.unread.add(own.number)
    return check_of(
        findings,
        looked_at,
        unchecked=sum(own.number in evidence.session.unread for own in own_texts(evidence)),
    )


def _changes(evidence: ReplayEvidence, own: OwnText) -> Iterator[Finding]:
    """Yield what a rewritten result shows otherwise. One that is cut, or has the same words in
    other lines, changes nothing.
    """
    if gaps_shown(evidence, own) is None:
        yield from _changed_scalar(own)
        yield from _changed_fields(evidence, own)
        yield from _changed_lines(evidence, own)
        plain = evidence.messages.texts.plain
        text, was = plain(own.text), plain(own.result.text if own.result else "")
        broken = broken_identifiers(text, was, evidence.session.identifiers(was))
        yield from (Finding(own.message.step, shown, whole) for shown, whole in broken)


def _changed_calls(evidence: ReplayEvidence, own: OwnText) -> list[Finding]:
    """The arguments of recorded calls that a message gives otherwise."""
    step = own.message.step
    number = evidence.index.full.get(-1 if step is None else step)
    if number is None:
        return []
    recorded = {call.id: call for call in evidence.messages.messages[number].tool_calls}
    return [
        Finding(
            step,
            f"{call.name} {call.arguments}",
            f"{recorded[call.id].name} {recorded[call.id].arguments}",
        )
        for call in own.message.tool_calls
        if call.id in recorded
        and (call.name, call.arguments) != (recorded[call.id].name, recorded[call.id].arguments)
    ]


def _changed_lines(evidence: ReplayEvidence, own: OwnText) -> Iterator[Finding]:
    """Yield the lines of one rewritten result that differ in a word."""
    table = evidence.messages.table(own.message.step or 0)
    if table.fields and _is_one_value(own.text):
        return  # held against the fields, its texts too
    for line, was in _altered(evidence, own, lines_shown(own.text)):
        if not _is_field(line, table):
            yield Finding(own.message.step, line, was)


def _changed_scalar(own: OwnText) -> Iterator[Finding]:
    """Yield the one value of a result that is nothing else, where another of its kind is shown."""
    shown, was = own.text.strip(), own.result.text.strip() if own.result else ""
    if _SCALAR.fullmatch(shown) and _SCALAR.fullmatch(was) and not same_value(shown, was):
        yield Finding(own.message.step, shown, was)


def _is_one_value(text: str) -> bool:
    """True if a text is one JSON container and nothing else, wherever its lines end.

    >>> [_is_one_value(text) for text in ('{"a":\\n1}', '{"a": 1} of 2', '{"a": 1', '"a"', "7")]
    [True, False, False, False, False]
    """
    plain = text.strip().replace("\n", " ")
    if plain[:1] not in ("{", "["):
        return False
    with suppress(NothingParsed):
        return parse_prefix(plain)[1] == len(plain)
    return False


def _is_field(line: str, table: FieldTable) -> bool:
    """True if a line is a field of the result, under its key: no line of one of its texts."""
    pair = _FIELD.fullmatch(line)
    return pair is not None and any(same_value(pair[2], value) for value in table.column(pair[1]))


def _altered(evidence: ReplayEvidence, own: OwnText, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines that show one of the result with another word in it, each with that one.

    Beside the strategy's own words (a notice, a tag), at the start and at the end a word may be
    cut.
    """
    original = evidence.session.result_lines(own.message.step or 0)
    known = evidence.session.lines_of(own.message.step)
    parts = [
        part
        for line in lines
        for part in (unescape_cut(line).split("\n") if "\\" in line else [line])
        if part.strip()
    ]
    called = plain_lines(own.result.arguments) if own.result else ""
    seen: set[str] = set()
    for before, part, following in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        if part in original or part in known or part in seen or part.strip() in called:
            continue
        seen.add(part)
        if not original.altered(part.rstrip("\\")):
            continue
        begun = not before or _is_notice(before, original, known)
        cut = part.endswith("\\") or not following or _is_notice(following, original, known)
        if was := original.altered(part.rstrip("\\"), cut=cut, begun=begun):
            yield part.strip()[:200], was.strip()[:200]


def _is_notice(line: str, original: ResultLines, known: frozenset[str]) -> bool:
    """True if a line is neither of the result nor one of its lines with another word in it."""
    return (
        line not in known
        and line not in original
        and not original.altered(line.rstrip("\\"), cut=True)
    )


def _changed_fields(evidence: ReplayEvidence, own: OwnText) -> list[Finding]:
    """The fields of one rewritten result that differ."""
    step = own.message.step
    table = evidence.messages.table(step or 0)
    if not table.fields:
        return []
    first, *others = (
        notices_of(evidence, own.result).pieces_of(own.text) if own.result else [own.text]
    )
    if not evidence.messages.understands(own.number, step or 0):
        evidence.session.unread.add(own.number)
        return []
    pieces = [first, *(_from_next_record(piece, table) for piece in others)]
    found = [
        item
        for piece in filter(str.strip, pieces)
        for item in _changed_in(evidence, own, piece, table)
    ]
    if not found and not _are_compared(evidence, own, pieces):
        evidence.session.unread.add(own.number)
    return found


def _are_compared(evidence: ReplayEvidence, own: OwnText, pieces: list[str]) -> bool:
    """False if a text has most of its fields where they are seen, but held against no record."""
    step = own.message.step or 0
    table = evidence.messages.table(step)
    records = (record for piece in pieces for record in evidence.messages.reading(piece).records)
    compared = sum(table.has_key(key) for record in records for key, _ in record.pairs)
    return 2 * compared >= len(evidence.messages.fields_in(step, own.text))


def _changed_in(
    evidence: ReplayEvidence, own: OwnText, piece: str, table: FieldTable
) -> list[Finding]:
    """The fields that differ in a piece of a rewritten result.

    A layout of which fewer than half of the fields agree was not understood: it is not checked.
    """
    step = own.message.step
    reading = evidence.messages.reading(piece)
    found: list[Finding] = []
    agreeing = 0
    for keys, inner in reading.containers:
        unknown = [
            key for key in inner if key and not table.has_container(key) and not table.has_key(key)
        ]
        own_keys = [key for key in keys if table.has_container(key) or table.has_key(key)]
        gone = table.containers.difference(map(plain_key, keys))
        if unknown and gone and len(own_keys) * 2 >= len(keys):
            found.append(Finding(step, f"{unknown[0]}: …", ""))
    for pairs, around in (part for record in reading.records for part in _named(record, table)):
        known = [(key, text) for key, text in pairs if table.has_key(key)]
        if not known:
            continue
        best = table.best_records(known, around)
        for key, text in pairs:
            if not text.strip(" .…") or not key:
                continue
            if table.has_container(f"{key}s"):
                continue  # the name of one of these
            if not table.has_key(key):
                renamed = _is_renamed(evidence, table, text, known, pairs)
                is_added = not table.has_container(key) and _is_added(own, key, text, known, pairs)
                is_stated = is_added or is_unsupported(evidence, own, text, fewest=3)
                if (is_stated or renamed) and _says_only(text, best, table):
                    evidence.session.unread.add(own.number)
                elif is_stated or (renamed and not Counts(evidence, own).is_worked_out(text)):
                    found.append(Finding(step, f"{key}: {text}", _origin(table, text)))
                continue
            values = [value for number in best for value in table.values(number, key)]
            if sum(plain_key(other) == plain_key(key) for other, _ in pairs) > 1:
                values = table.column(key)  # of several mappings in one row
            if best and not values and _is_of_another(own, table, best, (key, text)):
                found.append(Finding(step, f"{key}: {text}", f"no {key}"))
                continue
            if not values and not same_value(text, ""):
                values = table.column(key) if best or len(known) > 1 else []
            if any(map(is_prose, values)):
                found += [
                    Finding(step, new, was)
                    for new, was in _altered(evidence, own, text.split("\n"))
                ]
                continue
            is_same = _is_one_of(piece, text, values) or _are_all(text, table.column(key))
            if values and (not is_same or _is_begun(own, text, values)):
                if is_same or _is_of_kind(text, values):
                    found.append(Finding(step, f"{key}: {text}", f"{key}: {values[0]}"))
                else:
                    evidence.session.unread.add(own.number)
            else:
                agreeing += bool(values)
    if len(found) > max(agreeing, _FEWEST_PAIRS) and piece.lstrip()[:1] not in ("{", "["):
        evidence.session.unread.add(own.number)
        return []
    return found


def _is_of_kind(text: str, values: list[str]) -> bool:
    """True if a shown value can be held against the recorded ones: a quantity, a word, or a text
    that has none of them. What has more words than these, or one of them within, is a way of
    writing that nobody has read.

    >>> [_is_of_kind(text, ["JFK"]) for text in ("SEA", "JFK → SEA", "not JFK", "as in the row above")]
    [True, False, True, False]
    """
    words = _WORDS.findall(text)
    if is_quantity(text) or is_denied(text) or len(words) < 2:
        return True
    has_one = any(occurs(text, value) for value in values if value)
    return not has_one and len(words) <= 2 * max(len(_WORDS.findall(value)) for value in values)


def _says_only(text: str, records: list[int], table: FieldTable) -> bool:
    """True if a value under a key of its own has several words, each one of some records or of a
    key: it is put together from these.
    """
    values = (value for number in records for _, value in table.pairs(number))
    known = {word for value in values for word in _WORDS.findall(value.casefold())}
    words = _WORDS.findall(text.casefold())
    return len(words) > 1 and known.union(table.key_words).issuperset(words)


def _is_renamed(
    evidence: ReplayEvidence, table: FieldTable, text: str, known: list[Pair], pairs: list[Pair]
) -> bool:
    """True if a value under a key of its own, among known ones, is that of another key that is
    gone, or a code that nothing says.
    """
    if len(known) * 2 < len(pairs) or any(same_value(text, other) for _, other in known):
        return False
    return table.says_value(text) or (
        _CODE.fullmatch(text) is not None and not evidence.session.mentions.name(text)
    )


def _is_added(own: OwnText, key: str, text: str, known: list[Pair], pairs: list[Pair]) -> bool:
    """True if data state something of a record under a key that it does not have: a word, and
    nothing about the text itself.
    """
    is_word = not is_number(text) and len(known) * 2 >= len(pairs) > 1
    is_whole = own.text.rstrip()[-1:] in ("}", "]") and _is_one_value(own.text)
    return is_word and is_whole and not any(map(is_notice_word, plain_key(key).split()))


def _is_of_another(own: OwnText, table: FieldTable, best: list[int], pair: Pair) -> bool:
    """True if data give records a field that others have, and these lack with all within them."""
    key, text = pair
    is_other = table.records_with[plain_key(key)].isdisjoint(best) and text in table.column(key)
    return is_other and _is_one_value(own.text)


def _from_next_record(piece: str, table: FieldTable) -> str:
    """The part behind a gap from where a record opens: what goes on with one from the gap is not
    checked.
    """
    opening = piece.find("{")
    if opening >= 0:
        with suppress(NothingParsed):
            parse_prefix(piece[opening:])
            return piece[opening:]
    lines = piece.split("\n")
    opens = (
        at for at, line in enumerate(lines) if (key := OPENING.match(line)) and table.opens(key[1])
    )
    return "\n".join(lines[next(opens, 0) :])


def _named(
    record: TextRecord, table: FieldTable
) -> Iterator[tuple[list[tuple[str, str]], frozenset[str]]]:
    """Yield a record in parts, each with the values around it: a new one where a key has an
    identity in front.
    """
    pairs: list[tuple[str, str]] = []
    around = record.around
    for key, text in record.pairs:
        front, _, own = key.rpartition(" ")
        if front and not table.has_key(key) and table.has_key(own) and table.is_identity(front):
            if pairs:
                yield pairs, around
            pairs, around, key = [], record.around | {front.casefold()}, own
        pairs.append((key, text))
    if pairs:
        yield pairs, around


def _is_one_of(shown: str, text: str, values: list[str]) -> bool:
    """True if a value is one of some, or goes on behind it in other words; at the end what a cut
    left of it is enough.
    """
    text = text.strip()
    at_end = bool(text) and shown.rstrip("\"'…. ]}\n").endswith(text)
    first = _MORE.sub("", text)
    return any(
        same_value(text, value) or first == value or (at_end and value.startswith(text))
        for value in values
    )


def _is_begun(own: OwnText, text: str, values: list[str]) -> bool:
    """True if data that are complete have the beginning of a field without a mark: another value. A
    number with fewer digits is a rounded one.
    """
    if is_number(text):
        return False
    rest = (value[len(text) :].strip(":.0") for value in values if value.startswith(text))
    return len(list(filter(None, rest))) == len(values) and _is_one_value(own.text)


def _are_all(text: str, column: list[str]) -> bool:
    """True if a value is a list of values that stand under its key, or of some with the number of
    times that each stands there.

    >>> column = ["sent", "open", "sent"]
    >>> [_are_all(text, column) for text in ("sent, open", "sent (2), open (1)", "sent (1)", "sent")]
    [True, True, False, False]
    """
    parts = re.split("[,;] ", text.strip("[]"))
    counted = [_COUNTED.fullmatch(part) for part in parts]
    if all(counted):
        pairs = [(match[1], int(match[2])) for match in counted if match]
        return all(sum(same_value(part, value) for value in column) == n for part, n in pairs)
    return len(parts) > 1 and all(
        any(same_value(part, value) for value in column) for part in parts
    )


def _origin(table: FieldTable, text: str) -> str:
    return next(
        (f"{item.key}: {item.text}" for item in table.fields if same_value(text, item.text)), ""
    )
