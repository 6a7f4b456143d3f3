"""Strategies: slots, and the plug-ins that fill them.

A plug-in is a function, or a class whose constructor takes the settings and whose method does the
work; its state lasts for one run. Settings are keyword-only parameters.

- summarizer, `f(result)` or `summarize`: the text that the model sees; None for the stored value
- compactor, `f(window)` or `compact`: the new history, a list of messages or a `NewHistory`; None
  for no change. With `mode="per_call"` it gets the full history before every model call, and its
  answer is only the prompt of that call
- store, `f(result)` or `put`: a `Record`, or the value to keep
- evaluator, `f(record, history)` or `evaluate`: a mapping of findings; None for none
- router, `f(state)` or `decide`: the route's name, or (route, detail). `at` says where it decides
- consumer, `f(execution)` or `consume`: a `Reply`
- writer, `f(messages)`: the text of a summary, named by a compactor's setting `writer`

A user's function gets its value in the form that it asks for: `user_code/forms.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..model.errors import SpecError
from ..plugins.registry import Plugin, build
from .declaring import Declaration, declaration, kind_of, spec_of
from .slots import (
    Execution as Execution,
    NewHistory as NewHistory,
    Reply as Reply,
    Window as Window,
    WrittenSummary as WrittenSummary,
    read_back as read_back,
    untruncated_record as untruncated_record,
)
from .user_code.forms import with_form

if TYPE_CHECKING:
    from ..plugins.worker import Child

AT_DEFAULT = "after_result"
"""The decision point of a user's router that names none: after each tool result."""

RECORDED = "recorded"
"""The decision point of a router that decides wherever the trace recorded a decision."""

_VALUES = {
    "mode": ("history", "per_call"),  # the history from then on, or only this prompt
    "at": (
        "user_turn",
        "before_model",
        "after_model",
        "approval",
        "after_result",
        "after_evaluation",
        "end",
        RECORDED,
    ),
}
"""The allowed values of the attributes that a compactor or a router declares."""


class Sandbox(msgspec.Struct, frozen=True):
    """The child process of a strategy, another one for its second replay, the strategy's number in
    both, and the user's files that they imported."""

    child: Child
    another: Child
    number: int
    imported: tuple[str, ...]


@dataclass(frozen=True)
class Strategy(Declaration):
    """A declaration with the plug-ins in its slots; an empty slot does what the recording did.

    So the reference `recorded` has no slots. `broken` is the error because of which a strategy
    cannot run. With user code all plug-ins run in a `sandbox`, or `in_process_reason` says why they run in this one.
    """

    plugins: Mapping[str, tuple[Plugin, ...]] = field(default_factory=dict)
    broken: SpecError | None = None
    sandbox: Sandbox | None = field(default=None, compare=False, repr=False)
    in_process_reason: str = field(default="", compare=False)

    @classmethod
    def of(cls, declared: Declaration, **fields: Any) -> Strategy:
        """The strategy of a declaration, with values for the fields that a declaration lacks."""
        return cls(declared.name, declared.slots, declared.says, declared.family, **fields)

    @property
    def everything(self) -> tuple[Plugin, ...]:
        """The plug-ins of all slots."""
        return tuple(itertools.chain.from_iterable(self.plugins.values()))

    @property
    def has_user_code(self) -> bool:
        """True if a slot runs user code."""
        return self.sandbox is not None or any(plugin.has_user_code for plugin in self.everything)

    @property
    def reads_future(self) -> bool:
        """True if a plug-in is given what later steps need."""
        return any(plugin.attribute("needs_future", False) for plugin in self.everything)

    @property
    def shipped(self) -> bool:
        """True if all of its code belongs to the bench, so that its spec determines the results."""
        return not (self.broken or self.has_user_code)


def build_strategy(declared: Declaration, base: Path | None = None) -> Strategy:
    """The strategy of a declaration. Relative paths start from `base`, by default this folder.

    Raises SpecError for a spec that names nothing or does not fit, and for user code together with
    a plug-in that reads the whole recording.
    """
    plugins = {
        slot: tuple(_plugin(kind_of(slot), item, base) for item in items)
        for slot, items in declared.slots.items()
    }
    strategy = Strategy.of(declared, plugins=plugins)
    for plugin in strategy.everything:
        _require_declared(plugin)
        if strategy.has_user_code and plugin.attribute("needs_future", False):
            what = f"{plugin.spec} reads the whole recording, and no code of yours may"
            raise SpecError(f"strategy {declared.name!r}: {what} — name them apart")
    return strategy


def _require_declared(plugin: Plugin) -> None:
    """Raise SpecError for a wrong `at`, `loop` or `mode` of a router or compactor."""
    for name, value in plugin.declared.items():
        allowed = _VALUES.get(name)
        if not isinstance(value, str) or not value or (allowed and value not in allowed):
            wanted = f"one of {', '.join(allowed)}" if allowed else "the name of a route"
            what = f"{plugin.kind} {plugin.spec}: its `{name}` must be {wanted}"
            raise SpecError(f"{what}, got {value!r}")


def parse_strategy(text: str, base: Path | None = None) -> Strategy:
    """The strategy of `NAME=SLOT=SPEC(+SLOT=SPEC)*`, or of a reference's NAME. Raises SpecError."""
    return build_strategy(declaration(text), base)


def _plugin(kind: str, item: Any, base: Path | None) -> Plugin:
    """The plug-in of a spec string or of a user's function. Raises SpecError, also for a wrong
    `form` of a function."""
    if isinstance(item, str):
        plugin = build(kind, item, base)
    else:
        spec = spec_of(item)
        plugin = Plugin(kind, str(spec), item, is_user=True, spec=spec)
    return with_form(plugin) if plugin.is_user else plugin
