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

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..model.errors import SpecError
from ..plugins.loader import method_of
from ..plugins.registry import KINDS, Entry, Plugin, build
from ..plugins.spec import Spec
from .declaring import Declaration, declaration, name_of
from .functions import own_code
from .slots import (
    Edits as Edits,
    Execution as Execution,
    Reply as Reply,
    Window as Window,
    Written as Written,
    untruncated_record as untruncated_record,
)

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
    def declaration(self) -> Declaration:
        """The strategy as it is written."""
        return Declaration(self.name, dict(self.plugins), self.says, self.reference)

    @property
    def spec(self) -> str:
        """The slots as written: `compactor=mask_observations:keep_last=10`; `""` for the empty
        strategy.
        """
        return self.written or self.declaration.spec

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


def built(declared: Declaration, base: Path | None = None) -> Strategy:
    """A strategy from what was written. Relative paths start from `base`, by default this folder.

    Raises SpecError for a spec that names nothing or does not fit.
    """
    plugins = {
        slot: tuple(_plugin("router" if slot == "routers" else slot, item, base) for item in items)
        for slot, items in declared.slots.items()
    }
    return checked(Strategy(declared.name, plugins, declared.says, declared.reference))


def compose(name: str, slots: Mapping[str, Any], base: Path | None = None) -> Strategy:
    """A strategy from slot → spec string, Plugin or function, for `routers` a list of them.

    `says` beside the slots is a list of sentences. Raises SpecError for an unknown slot or spec.
    """
    return built(declaration(slots, name), base)


def parse_strategy(text: str, base: Path | None = None) -> Strategy:
    """A strategy from `NAME=SLOT=SPEC(+SLOT=SPEC)*`, or the NAME of a reference. Raises SpecError."""
    return built(declaration(text), base)


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


def _plugin(kind: str, given: Any, base: Path | None) -> Plugin:
    """The plug-in of a slot: itself, from its spec string, or somebody's function as it is.

    Raises SpecError for a wrong `form` of somebody's own.
    """
    plugin = build(kind, given, base) if isinstance(given, str) else given
    if not isinstance(plugin, Plugin):
        name = name_of(given)
        spec = Spec(str(getattr(given, "__module__", None) or "function"), name)
        method = method_of(given, KINDS[kind][1], name)
        plugin = Plugin(spec, Entry(kind, str(spec), given, own=True, method=method), {})
    if plugin.entry.own:
        own_code(plugin)
    return plugin
