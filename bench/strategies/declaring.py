"""Declarations of strategies, from a spec string, slots, or a function. Nothing is loaded here;
`build_strategy` makes a declaration a `Strategy`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..model.errors import SpecError, nearest
from ..plugins.registry import entries
from ..plugins.spec import RawValue, Spec, Sweep, format_value, parse_spec, parse_value, split_top
from .portfolio import PORTFOLIO, REFERENCES

HOW = "write NAME=SLOT=SPEC, as in mask=compactor=mask_observations"
SLOTS = ("summarizer", "compactor", "store", "evaluator", "routers", "consumer")
SAYS = "says"
"""The key, beside those of the slots, for the sentences that a strategy writes on purpose."""

MOST_SETTINGS = 100
"""The most strategies into which the sweeps of one may expand."""


@dataclass(frozen=True)
class Declaration:
    """One strategy as written: for each slot the spec strings or functions in it.

    `family` is its name without the values of a sweep. `str()` returns the string that parses back
    to it.

    >>> str(declaration({"store": "truncate:limit=80", "says": ["Use grep."]}, "mine"))
    'mine=store=truncate:limit=80+says=["Use grep."]'
    """

    name: str
    slots: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    family: str = field(default="", compare=False)

    @property
    def spec(self) -> str:
        """The slots as written: `compactor=mask_observations:keep_last=10`; `""` for none."""
        texts = {slot: tuple(map(_text_of, items)) for slot, items in self.slots.items() if items}
        texts |= {SAYS: (format_value(self.says),)} if self.says else {}
        return "+".join(
            f"{slot}={items[0] if len(items) == 1 else format_value(items)}"
            for slot, items in texts.items()
        )

    def __str__(self) -> str:
        return f"{self.name}={self.spec}"


def _text_of(item: Any) -> str:
    return item if isinstance(item, str) else str(spec_of(item))


def spec_of(code: Any) -> Spec:
    """The spec of a function, class or object that is passed as code: its module and its name."""
    return Spec(str(getattr(code, "__module__", None) or "function"), name_of(code))


def name_of(code: Any) -> str:
    """The name of a function or class; for any other object that of its class."""
    return str(getattr(code, "__name__", type(code).__name__)).strip("<>")  # <lambda>


def declarations(given: Any) -> list[Declaration]:
    """The declarations in a user's argument: a strategy, several, or a mapping from names to
    strategies or slots, where an empty value means the reference with that name.

    >>> [one.name for one in declarations({"a": "keep_all", "b": {"store": "full"}})]
    ['a', 'b']
    """
    if isinstance(given, Mapping):
        return [declaration(item or name, name) for name, item in given.items()]
    is_one = isinstance(given, str) or not isinstance(given, Iterable)
    return [declaration(item) for item in ([given] if is_one else given)]


def declaration(item: Any, name: str | None = None) -> Declaration:
    """The declaration of a strategy, from a spec string, slots with a name, or a function, which is
    a summarizer.

    A spec string is `NAME=SLOT=SPEC(+SLOT=SPEC)*` or the name of a reference. `name` renames it;
    with one, a spec string may be the slots alone (`compactor=mask_observations`). Raises SpecError
    for anything else, and for an unknown slot.

    >>> str(declaration("store=truncate", "cut")), declaration(len).name
    ('cut=store=truncate', 'len')
    """
    if isinstance(item, str):
        return _of_text(item, name)
    if callable(item):
        return _of_slots(name_of(item) if name is None else name, [("summarizer", item)])
    if isinstance(item, Mapping) and name is not None:
        return _of_slots(name, item.items())
    what = f"a strategy is a spec string or a function, got {type(item).__name__}"
    raise SpecError(
        f"{what} — write 'NAME=SLOT=SPEC', or pass {{'name': {{'compactor': function}}}}"
    )


def _of_text(text: str, name: str | None) -> Declaration:
    """The declaration in a spec string, which may be only slots if a name is passed."""
    written, equals, body = (part.strip() for part in text.partition("="))
    slot, filled, _ = body.partition("=")
    is_name = written == name or (filled and slot.strip().isidentifier())
    if name is not None and (not text or written in SLOTS or (equals and not is_name)):
        written, equals, body = name, "=", text
    if written in SLOTS and body.partition("=")[0].strip() in SLOTS:
        raise SpecError(f"strategy {text!r}: {written} is a slot — choose another name")
    if not written or written in SLOTS:
        raise SpecError(f"strategy {text!r}: a name is missing — {HOW}")
    if not equals:
        body = _reference(written)
    return _of_slots(name or written, _slots_in(body, text))


def _slots_in(body: str, text: str) -> Iterator[tuple[str, RawValue]]:
    """Yield each slot in the part of a spec after the name, with its plug-ins' specs. Raises
    SpecError, which quotes the whole `text`."""
    for part in split_top(body, "+") if body else []:
        slot, _, spec = (piece.strip() for piece in part.partition("="))
        yield slot, parse_value(spec, text) if spec.startswith("[") else spec


def _of_slots(name: str, slots: Iterable[tuple[str, Any]]) -> Declaration:
    """A declaration from the plug-ins of each slot. Only `routers` may have several."""
    if not name.strip():
        raise SpecError("a strategy has an empty name — give it one")
    filled: dict[str, tuple[Any, ...]] = {}
    for slot, written in slots:
        what = f"strategy {name!r}: slot {slot}"
        if slot not in (*SLOTS, SAYS):
            fills = "" if written else _slot_of(slot)
            known = f" — write {name}={fills}={slot}" if fills else nearest(slot, (*SLOTS, SAYS))
            raise SpecError(f"strategy {name!r}: {slot!r} names no slot{known}")
        if slot in filled:
            raise SpecError(f"{what} is given twice")
        if written == "":
            raise SpecError(f"{what}: nothing fills it — `bench list strategies` has what can")
        filled[slot] = tuple(written) if isinstance(written, list | tuple) else (written,)
        if slot not in ("routers", SAYS) and len(filled[slot]) != 1:
            raise SpecError(f"{what} takes one spec, got {len(filled[slot])}")
        odd = [item for item in filled[slot] if not isinstance(item, str) and not callable(item)]
        if odd:
            raise SpecError(f"{what} must be a spec string, got {type(odd[0]).__name__}")
    says = filled.pop(SAYS, ())
    if not all(isinstance(item, str) and len(item.split()) > 1 for item in says):
        example = 'a list of sentences, such as ["Use grep to find the rest."]'
        raise SpecError(f"strategy {name!r}: {SAYS} must be {example}, got {list(says)!r}")
    in_order = {slot: filled[slot] for slot in SLOTS if slot in filled}
    return Declaration(name, in_order, says, name)


def _reference(name: str) -> str:
    """The slots of a reference strategy. Raises SpecError for an unknown name, with the nearest."""
    if name not in REFERENCES:
        slot = _slot_of(name)
        slots = PORTFOLIO.get(name) or (f"{slot}={name}" if slot else "")
        meant = f" — write {name}={slots}" if slots else f"{nearest(name, REFERENCES)} (or {HOW})"
        raise SpecError(f"unknown strategy {name!r}{meant}")
    return REFERENCES[name]


def _slot_of(name: str) -> str:
    """The first slot for which a plug-in with this name is registered; `""` for none."""
    return next((slot for slot in SLOTS if name in entries(kind_of(slot))), "")


def kind_of(slot: str) -> str:
    """The kind of the plug-ins that fill a slot."""
    return "router" if slot == "routers" else slot


# ---------------------------------------------------------------- sweeps


def at_settings(declared: Declaration) -> Sequence[Declaration]:
    """A strategy once for each value of its sweep, a setting with several values such as `0.5|0.6`.

    Each has its values in its name. Several sweeps give every combination. A quoted value is not a
    sweep. Raises SpecError for an empty value and for more than 100 strategies.

    >>> [str(one) for one in at_settings(declaration("m=compactor=mine.py:f:share=0.5|0.6,n=1|2"))][:2]
    ['m-0.5-1=compactor=mine.py:f:share=0.5,n=1', 'm-0.5-2=compactor=mine.py:f:share=0.5,n=2']
    >>> [str(one) for one in at_settings(declaration('m=store=command:"run --mark=a|b"'))]
    ['m=store=command:"run --mark=a|b"']
    """
    settings = [*itertools.islice(_settings(declared), MOST_SETTINGS + 1)]
    if len(settings) > MOST_SETTINGS:
        what = f"a sweep of more than {MOST_SETTINGS} settings"
        raise SpecError(f"spec {str(declared)!r}: {what} — sweep fewer values")
    return settings


def _settings(declared: Declaration) -> Iterator[Declaration]:
    names = [slot for slot, items in declared.slots.items() for _ in items]
    specs = itertools.chain.from_iterable(declared.slots.values())
    for combination in itertools.product(*map(_swept_specs, specs)):
        name = declared.name
        slots: dict[str, tuple[Any, ...]] = dict.fromkeys(declared.slots, ())
        for slot, (values, spec) in zip(names, combination, strict=True):
            name = "-".join((name, *values))
            slots[slot] = (*slots[slot], spec)
        yield replace(declared, name=name, slots=slots)


def _swept_specs(item: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each combination of a spec's sweeps as (its values, the spec with them); without sweeps
    ((), item)."""
    spec = parse_spec(item) if isinstance(item, str) and "|" in item else None
    sweeps = {key: raw for key, raw in spec.params if isinstance(raw, Sweep)} if spec else {}
    if spec is None or not sweeps:
        yield (), item
        return
    for values in itertools.product(*sweeps.values()):
        params = {**dict(spec.params), **dict(zip(sweeps, values, strict=True))}
        yield values, str(replace(spec, params=tuple(params.items())))
