"""The slots of a strategy and what fills them.

A plug-in is a function, or a class whose constructor takes the settings and whose method does the
work (state lives for one run). Settings are keyword-only parameters with types and defaults; they
are what a spec string sets.

| slot | function form | class method | gives |
|---|---|---|---|
| summarizer | `f(result, *, …)` | `summarize(result)` | text or value the model sees, or None for
"as stored" | | compactor | `f(window, *, …)` | `compact(window)` | the new history (a list of
messages), `Edits`, or None for "unchanged" | | store | `f(result, *, …)` | `put(result)` | a
`Record` (a class may add `resolve(handle)`), or the value | | evaluator | `f(record, history, *,
…)` | `evaluate(record, history)` | a mapping of findings, or None | | router | `f(state, *, …)`
with an `at` | `decide(state)` | the route's name, or `(route, detail)` | | consumer | `f(execution,
*, …)` | `consume(execution)` | a `Reply`: what the agent says next, the task state it leaves, where
the run goes |

This is how a registered plug-in is called. Somebody's own function is handed the form that it asks
for: `forms.py`.

A compactor's answer is the history from then on: the next prompt starts from it. One declared with
`mode="per_call"` is a view instead: it is given the full history at every call, and its answer is
that one prompt (None: the full history).

Beside the slots: a writer, `f(messages, *, …)` → the text of a summary, named by a compactor's
`writer` parameter; and an extractor, `f(record, *, …)` → findings read back from a record, or None
where it does not apply; every registered one runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..model.errors import SpecError, nearest
from ..plugins.loader import method_of
from ..plugins.registry import KINDS, Entry, Plugin, build, entries
from ..plugins.spec import Spec, format_value, parse_value, split_top
from .portfolio import PORTFOLIO, REFERENCES
from .slots import (
    Edits as Edits,
    Execution as Execution,
    Reply as Reply,
    Window as Window,
    Written as Written,
    untruncated_record as untruncated_record,
)

HOW = "write NAME=SLOT=SPEC, as in mask=compactor=mask_observations"
SLOTS = ("summarizer", "compactor", "store", "evaluator", "routers", "consumer")
SAYS = "says"
"""The key, beside the slots, of the sentences that a strategy writes on purpose."""

MODES = ("history", "per_call")
"""The meanings of a compactor's answer: the history from then on, or this prompt alone."""

AT_DEFAULT = "after_result"
"""The decision point of somebody's own router that names none: after each tool result."""

RECORDED = "recorded"
"""The decision point of a router that decides wherever the trace recorded any decision; None from
it: that one is another's.
"""

DECISION_POINTS = (
    "user_turn",
    "before_model",
    "after_model",
    "approval",
    "after_result",
    "after_evaluation",
    "end",
    RECORDED,
)


@dataclass(frozen=True)
class Strategy:
    """A named composition of slots; an empty slot does what the recording did.

    So `recorded` is the empty strategy. `str()` gives the string that parses back to it.
    `broken` says why it cannot be run at all, `written` is then its spec. `sandbox` is the child
    process of somebody else's code: the plug-ins are then descriptions, and cannot be started here.
    `here` says why such code runs in this process all the same, `imported` are the files of it that
    a child imported. `says` are sentences of its own that are allowed, such as a fixed hint to the
    model: they are quoted in the report, and no rule takes them for an invention.
    """

    name: str
    plugins: dict[str, tuple[Plugin, ...]] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    reference: bool = False
    broken: str = ""
    written: str = ""
    sandbox: Any = field(default=None, compare=False, repr=False)
    here: str = field(default="", compare=False)
    imported: tuple[str, ...] = field(default=(), compare=False)

    @property
    def spec(self) -> str:
        """The slots as written: `compactor=mask_observations:keep_last=10`; `""` for the empty
        strategy.
        """
        texts = {
            slot: tuple(str(plugin.spec) for plugin in plugins)
            for slot, plugins in self.plugins.items()
            if plugins
        }
        texts |= {SAYS: (format_value(self.says),)} if self.says else {}
        filled = (
            (slot, items[0] if len(items) == 1 else format_value(items))
            for slot, items in texts.items()
        )
        return self.written or "+".join(map("=".join, filled))

    @property
    def everything(self) -> tuple[Plugin, ...]:
        """The plug-ins of all slots."""
        return tuple(plugin for filled in self.plugins.values() for plugin in filled)

    @property
    def own(self) -> bool:
        """True if somebody's own function, class or process runs in it, which may do anything."""
        return any(plugin.own for plugin in self.everything)

    @property
    def shipped(self) -> bool:
        """True if all code in it is that of the bench: its spec and a recording decide what it does
        there.
        """
        return not self.broken and all(plugin.shipped for plugin in self.everything)

    def __str__(self) -> str:
        return self.name if self.reference else f"{self.name}={self.spec}"


def compose(name: str, slots: Mapping[str, Any], base: Path | None = None) -> Strategy:
    """A strategy from slot → spec string, Plugin or function, for `routers` a list of them.

    `says` beside the slots is a list of sentences. Raises SpecError for an unknown slot or spec.

    >>> str(compose("mine", {"store": "truncate:limit=80", "says": ["Use grep."]}))
    'mine=store=truncate:limit=80+says=["Use grep."]'
    """
    if not name.strip():
        raise SpecError("a strategy has an empty name — give it one")
    plugins: dict[str, tuple[Plugin, ...]] = {}
    for slot, written in slots.items():
        if slot == SAYS:
            continue
        if slot not in SLOTS:
            known = nearest(slot, (*SLOTS, SAYS))
            raise SpecError(f"strategy {name!r}: unknown slot {slot!r}{known}")
        texts = list(written) if isinstance(written, list | tuple) else [written]
        if slot != "routers" and len(texts) != 1:
            raise SpecError(f"strategy {name!r}: slot {slot} takes one spec, got {len(texts)}")
        kind = "router" if slot == "routers" else slot
        plugins[slot] = tuple(_plugin(kind, name, slot, text, base) for text in texts)
    filled = {slot: plugins[slot] for slot in SLOTS if slot in plugins}
    return checked(Strategy(name, filled, says=_sentences(name, slots.get(SAYS, ()))))


def _sentences(name: str, written: object) -> tuple[str, ...]:
    """The sentences of `says`. SpecError for anything but a list of texts of several words."""
    items = written if isinstance(written, list | tuple) else None
    if items is None or not all(isinstance(item, str) and len(item.split()) > 1 for item in items):
        what = 'must be a list of sentences, such as ["Use grep to find the rest."]'
        raise SpecError(f"strategy {name!r}: {SAYS} {what}, got {written!r}")
    return tuple(items)


def checked(strategy: Strategy) -> Strategy:
    """The strategy itself. Raises SpecError for a wrong `at`, `loop` or `mode`."""
    for router in strategy.plugins.get("routers", ()):
        if router.attribute("at", AT_DEFAULT if router.entry.own else None) not in DECISION_POINTS:
            known = ", ".join(DECISION_POINTS)
            what = f"router {router.spec}: its `at` must be one of {known}"
            raise SpecError(f"{what} — write {router.spec}:at=after_result")
        loop = router.attribute("loop")
        if loop is not None and not (isinstance(loop, str) and loop):
            raise SpecError(
                f"router {router.spec}: its `loop` must be the name of a route, got {loop!r}"
            )
    for compactor in strategy.plugins.get("compactor", ()):
        if compactor.attribute("mode", "history") not in MODES:
            raise SpecError(
                f"compactor {compactor.spec}: its `mode` must be one of {', '.join(MODES)}"
            )
    return strategy


def _plugin(kind: str, name: str, slot: str, given: object, base: Path | None) -> Plugin:
    """The plug-in of a slot: itself, from its spec string, or somebody's function as it is.

    Raises SpecError for a wrong `form` of somebody's own.
    """
    plugin = _given(kind, name, slot, given, base)
    if not plugin.entry.own:
        return plugin
    from .functions import OwnPlugin

    own = OwnPlugin(plugin.spec, plugin.entry, plugin.arguments)
    own.start()
    return own


def _given(kind: str, name: str, slot: str, given: object, base: Path | None) -> Plugin:
    if isinstance(given, Plugin):
        return given
    if not callable(given):
        if not isinstance(given, str):
            what = f"slot {slot} must be a spec string, got {type(given).__name__}"
            raise SpecError(f"strategy {name!r}: {what}")
        return build(kind, given, base)
    name_of_code = _name_of(given)
    spec = Spec(str(getattr(given, "__module__", None) or "function"), name_of_code)
    method = method_of(given, KINDS[kind][1], name_of_code)
    return Plugin(spec, Entry(kind, str(spec), given, own=True, method=method), {})


def parse_strategy(text: str, base: Path | None = None) -> Strategy:
    """A strategy from `NAME=SLOT=SPEC(+SLOT=SPEC)*`, or the NAME of a reference. Raises SpecError."""
    name, equals, body = (part.strip() for part in text.partition("="))
    if not name or name in SLOTS:
        raise SpecError(f"strategy {text!r}: a name is missing — {HOW}")
    return compose(name, _slots_in(body, text), base) if equals else reference(name)


def _slots_in(body: str, text: str) -> dict[str, str | Sequence[str]]:
    """The slots of a strategy's spec, each with what fills it. Raises SpecError about `text`."""
    slots: dict[str, str | Sequence[str]] = {}
    for part in split_top(body, "+") if body else []:
        slot, equals, spec = (piece.strip() for piece in part.partition("="))
        if slot not in (*SLOTS, SAYS):
            hint, fills = (
                f"{nearest(slot, (*SLOTS, SAYS))}; {HOW}",
                "" if equals else _slot_of(slot),
            )
            if fills:
                hint = f" — write {text.partition('=')[0].strip()}={fills}={slot}"
            raise SpecError(f"strategy {text!r}: {part.strip()!r} names no slot{hint}")
        if not spec:
            hint = "`bench list strategies` has what can"
            raise SpecError(f"strategy {text!r}: nothing fills slot {slot} — {hint}")
        if slot in slots:
            raise SpecError(f"strategy {text!r}: slot {slot} is given twice")
        slots[slot] = parse_value(spec, text) if spec.startswith("[") else spec
    return slots


def reference(name: str) -> Strategy:
    """A reference strategy by its name; SpecError with the nearest names where there is none."""
    if name not in REFERENCES:
        slots = PORTFOLIO.get(name) or (f"{slot}={name}" if (slot := _slot_of(name)) else "")
        meant = f" — write {name}={slots}" if slots else f"{nearest(name, REFERENCES)} (or {HOW})"
        raise SpecError(f"unknown strategy {name!r}{meant}")
    return replace(parse_strategy(f"{name}={REFERENCES[name]}"), reference=True)


def _slot_of(name: str) -> str:
    """The first slot that a registered plug-in of some name fills; `""` for none."""
    return next(
        (slot for slot in SLOTS if name in entries("router" if slot == "routers" else slot)), ""
    )


def strategy_of(item: Any, name: str | None = None, base: Path | None = None) -> Strategy:
    """A strategy from a Strategy, a spec string, slots, or a function, which is a summarizer.

    A spec string is `NAME=SLOT=SPEC` or a reference. `name` renames it; with one, a spec string may
    be the slots alone (`compactor=mask_observations`), and slots may be a mapping. Raises SpecError
    for anything else.

    >>> str(strategy_of("store=truncate", "cut")), strategy_of(len).name
    ('cut=store=truncate', 'len')
    """
    if isinstance(item, Strategy):
        return item if name is None else replace(item, name=name)
    if isinstance(item, str):
        return _of_text(item, name, base)
    if callable(item):
        return compose(name or _name_of(item), {"summarizer": item}, base)
    if isinstance(item, Mapping) and name is not None:
        return compose(name, item, base)
    what = f"a strategy is a spec string, a function or a Strategy, got {type(item).__name__}"
    raise SpecError(
        f"{what} — write 'NAME=SLOT=SPEC', or pass {{'name': {{'compactor': function}}}}"
    )


def _of_text(text: str, name: str | None, base: Path | None) -> Strategy:
    """A strategy from a spec string; with a name it may be the slots alone."""
    if name is None:
        return parse_strategy(text, base)
    is_slots = not text or text.partition("=")[0].strip() in SLOTS
    strategy = parse_strategy(f"{name}={text}" if is_slots else text, base)
    return strategy if strategy.name == name else replace(strategy, name=name, reference=False)


def _name_of(given: Any) -> str:
    """The name of a function or class, else of the class of an object."""
    return str(getattr(given, "__name__", type(given).__name__)).strip("<>")  # <lambda>
