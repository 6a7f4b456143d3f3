"""Strategies as people write them: a spec string, slots, or a function. Nothing is loaded here."""

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
"""The key, beside the slots, of the sentences that a strategy writes on purpose."""

MOST_SETTINGS = 100
"""The most strategies that one sweep may become."""


@dataclass(frozen=True)
class Declaration:
    """One strategy as written: for each slot the spec strings or functions in it.

    `family` is its name before the values of a sweep were added. `str()` gives the string that
    parses back to it.

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
    """The spec of a function, class or object: its module and its name."""
    return Spec(str(getattr(code, "__module__", None) or "function"), name_of(code))


def name_of(code: Any) -> str:
    """The name of a function or class, else of the class of an object."""
    return str(getattr(code, "__name__", type(code).__name__)).strip("<>")  # <lambda>


def declarations(given: Any) -> list[Declaration]:
    """The declarations in a user's argument: one strategy or several, or a mapping from names to
    strategies or slots. Without slots a name is that of a reference.

    >>> [one.name for one in declarations({"a": "keep_all", "b": {"store": "full"}})]
    ['a', 'b']
    """
    if isinstance(given, Mapping):
        return [declaration(item or name, name) for name, item in given.items()]
    is_one = isinstance(given, str) or not isinstance(given, Iterable)
    return [declaration(item) for item in ([given] if is_one else given)]


def declaration(item: Any, name: str | None = None) -> Declaration:
    """The declaration of a strategy, from a spec string, slots with a name, or a summarizer
    function.

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
    """A declaration from a spec string; with a name it may consist of slots only."""
    written, equals, body = (part.strip() for part in text.partition("="))
    if name is not None and (not text or written in SLOTS):
        written, equals, body = name, "=", text
    if written in SLOTS and body.partition("=")[0].strip() in SLOTS:
        raise SpecError(f"strategy {text!r}: {written} is a slot — choose another name")
    if not written or written in SLOTS:
        raise SpecError(f"strategy {text!r}: a name is missing — {HOW}")
    if not equals:
        body = _reference(written)
    return _of_slots(name or written, _slots_in(body, text))


def _slots_in(body: str, text: str) -> Iterator[tuple[str, RawValue]]:
    """Yield the slots in a strategy's spec, each with its plug-ins' specs. Raises SpecError about
    `text`."""
    for part in split_top(body, "+") if body else []:
        slot, _, spec = (piece.strip() for piece in part.partition("="))
        yield slot, parse_value(spec, text) if spec.startswith("[") else spec


def _of_slots(name: str, slots: Iterable[tuple[str, Any]]) -> Declaration:
    """A declaration from the plug-ins of each slot; only routers may be several."""
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
    """The slots of a reference strategy; SpecError with the nearest names for an unknown one."""
    if name not in REFERENCES:
        slots = PORTFOLIO.get(name) or (f"{slot}={name}" if (slot := _slot_of(name)) else "")
        meant = f" — write {name}={slots}" if slots else f"{nearest(name, REFERENCES)} (or {HOW})"
        raise SpecError(f"unknown strategy {name!r}{meant}")
    return REFERENCES[name]


def _slot_of(name: str) -> str:
    """The first slot that a registered plug-in of some name fills; `""` for none."""
    return next((slot for slot in SLOTS if name in entries(kind_of(slot))), "")


def kind_of(slot: str) -> str:
    """The kind of the plug-ins that fill a slot."""
    return "router" if slot == "routers" else slot


# ---------------------------------------------------------------- sweeps


def at_settings(declared: Declaration) -> Sequence[Declaration]:
    """A strategy at every setting of its sweeps, the settings that list several values in a spec.

    Each has the values in its name. Several sweeps give every combination. Quoted values are not a
    sweep. Raises SpecError for an empty value and for more than 100 settings.

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
    places = [(slot, item) for slot, items in declared.slots.items() for item in items]
    for chosen in itertools.product(*(_swept_specs(item) for _, item in places)):
        slots: dict[str, tuple[Any, ...]] = dict.fromkeys(declared.slots, ())
        for (slot, _), (_, item) in zip(places, chosen, strict=True):
            slots[slot] = (*slots[slot], item)
        values = (value for several, _ in chosen for value in several)
        yield replace(declared, name="-".join((declared.name, *values)), slots=slots)


def _swept_specs(item: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the chosen values and the spec, for every setting of a spec; a function as it is."""
    spec = parse_spec(item) if isinstance(item, str) and "|" in item else None
    sweeps = {key: raw for key, raw in spec.params if isinstance(raw, Sweep)} if spec else {}
    if spec is None or not sweeps:
        yield (), item
        return
    for values in itertools.product(*sweeps.values()):
        params = {**dict(spec.params), **dict(zip(sweeps, values, strict=True))}
        yield values, str(replace(spec, params=tuple(params.items())))
