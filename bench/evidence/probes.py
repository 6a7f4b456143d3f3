"""Probes on traces: the result that a question reads, its answer in the untruncated result, and
search by path."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from ..model import AskedProbe, ModelTurn, Probe, ToolResult, Trace
from ..model.errors import ScenarioError, nearest, one_line
from ..text.answers import type_problem
from ..text.decode import NothingParsed, decode_strings, parse_some

_ANSWERS = ("path", "expected", "absent")

LABEL = "probes"  # the label of a trace that keeps its probes


def search(path: str, value: Any) -> Any:
    """The match of a JMESPath in a value, with JSON in its strings decoded; None without a match or
    for an empty list.

    Text is parsed first, as far as it goes. Raises ScenarioError for a path that is not JMESPath.

    >>> search("kegg.total", {"kegg": '{"total": 47}'}), search("rows[*].n", "[{"), search("length(@)", '[1, 2, 3')
    (47, None, 2)
    """
    import jmespath
    from jmespath.exceptions import ArityError, JMESPathError, UnknownFunctionError

    not_one = f"path {one_line(path)[:200]!r} is not JMESPath"
    try:
        compiled = jmespath.compile(path)
    except (JMESPathError, ValueError, RecursionError) as error:
        raise ScenarioError(f"{not_one}: {one_line(error)}") from None
    try:
        answer = msgspec.to_builtins(compiled.search(_as_data(value)))
    except (ArityError, UnknownFunctionError) as error:
        raise ScenarioError(f"{not_one}: {one_line(error)}") from None
    except (
        JMESPathError,
        TypeError,
        ValueError,
        RecursionError,
        ArithmeticError,
    ):  # no answer in this value
        return None
    return None if answer == [] else answer


def _as_data(value: Any) -> Any:
    """The value of a text with its strings decoded; a text that cannot be read as it is."""
    try:
        return decode_strings(parse_some(value) if isinstance(value, str) else value)
    except (NothingParsed, RecursionError):
        return value


def problem_of(probe: Probe) -> str | None:
    """The problem of a declared probe; None for a correct one.

    >>> problem_of(Probe(question="how many?"))
    'no answer — set `path` (JMESPath into the result), `expected`, or `absent` for what must not be there'
    """
    given = [name for name in _ANSWERS if getattr(probe, name) is not None]
    if not given:
        return "no answer — set `path` (JMESPath into the result), `expected`, or `absent` for what must not be there"
    if len(given) > 1:
        return f"two answers, `{given[0]}` and `{given[1]}` — set one of them, and ask the other in a probe of its own"
    if probe.absent == "":
        return "`absent` is empty — write the text or value that must not be there"
    if probe.path is not None and probe.result is None:
        return "`path` without `result` — say which tool result it reads: a step, a call id or a function"
    if probe.where == "store" and probe.result is None:
        return '`where = "store"` without `result` — say whose record must hold the answer'
    if probe.path is not None:
        try:
            search(probe.path, None)
        except ScenarioError as error:
            return str(error)
        return None
    wrong = type_problem(probe.expected if probe.absent is None else probe.absent, probe.type)
    return f'`type = "{probe.type}"`: {wrong}' if wrong else None


class Questions:
    """The probes of a scenario, applied to one trace after the other. `source` names the scenario
    in errors."""

    def __init__(self, probes: Sequence[Probe], source: str) -> None:
        names = (
            f"probes[{number}] ({one_line(probe.question)[:60]})"
            for number, probe in enumerate(probes, 1)
        )
        self._probes = [
            (probe, f"{source}: {name}") for probe, name in zip(probes, names, strict=True)
        ]
        self._runs: set[str] = set()
        self._asked: set[str] = set()
        self._names: dict[str, set[str]] = {}  # of results in the runs of each probe

    def of(self, trace: Trace) -> list[dict[str, Any]]:
        """The probes of one trace, in the form of labels.

        A probe with a function's name applies to each of its results in which the path finds
        something. Raises ScenarioError for a path that finds nothing in the untruncated result.
        """
        self._runs.add(trace.id)
        questions = []
        for probe, where in self._probes:
            if not fnmatchcase(trace.id, probe.run):
                continue
            names = {name for result in trace.results for name in (result.function, result.call_id)}
            self._names.setdefault(where, set()).update(names)
            for result, answer in _answers(probe, trace, where):
                self._asked.add(where)
                _require_turn(probe, trace, result, where)
                step = None if result is None else result.index
                entry = AskedProbe(question=probe.question, expected=answer, where=probe.where, step=step, path=probe.path, at=probe.at,
                                   type=probe.type, absent=probe.absent is not None)  # fmt: skip
                questions.append(_written(entry))
        return questions

    def require_asked(self) -> None:
        """Raise ScenarioError for a probe that matched no run, or no result; to be called after all
        traces."""
        for probe, where in self._probes:
            if where not in self._names:
                raise ScenarioError(
                    f"{where}: no run is called {probe.run!r}{nearest(probe.run, self._runs)}"
                )
            if where not in self._asked:
                near = nearest(str(probe.result), self._names[where])
                raise ScenarioError(
                    f"{where}: no tool result is step, call or function {probe.result!r}{near}"
                )


def _answers(probe: Probe, trace: Trace, where: str) -> list[tuple[ToolResult | None, Any]]:
    """The results that a probe reads in one trace, each with the answer; `[]` if there is none with
    that name."""
    given = probe.expected if probe.absent is None else probe.absent
    if probe.result is None:
        return [(None, given)]
    fields = ("index",) if isinstance(probe.result, int) else ("call_id", "function")
    results = [
        item for item in trace.results if probe.result in [getattr(item, field) for field in fields]
    ]
    if probe.path is None:
        return [(result, given) for result in results]
    searched = [(result, search(probe.path, result.value)) for result in results]
    answers = [(result, answer) for result, answer in searched if answer is not None]
    if results and not answers:
        place = (
            f"step {results[0].index}" if len(results) == 1 else f"any of {len(results)} results"
        )
        raise ScenarioError(
            f"{where}: path {probe.path!r} finds nothing in the untruncated result of {trace.id}, {place} "
            f"({results[0].function}) — `bench show` prints what it holds"
        )
    for result, answer in answers:
        wrong = type_problem(answer, probe.type)
        if wrong:
            at = f"at {probe.path!r} in {trace.id}, step {result.index}"
            raise ScenarioError(f'{where}: `type = "{probe.type}"`: {wrong}, {at}')
    return [*answers]


def _written(probe: AskedProbe) -> dict[str, Any]:
    """A probe in the form of labels, without newer settings at their defaults, since baselines
    identify probes by a digest."""
    later = {"type": "exact", "absent": False}
    written = msgspec.structs.asdict(probe)
    return {key: value for key, value in written.items() if key not in later or value != later[key]}


def _require_turn(probe: Probe, trace: Trace, result: ToolResult | None, where: str) -> None:
    """Raise ScenarioError for an `at` after the last turn."""
    if probe.at is None:
        return
    if probe.where == "store":
        raise ScenarioError(f'{where}: `at` with `where = "store"` — a store is asked at the end')
    if result is not None and probe.at <= result.index:
        raise ScenarioError(
            f"{where}: `at` = {probe.at} is not after the result, step {result.index} of {trace.id}"
        )
    thread = None if result is None else result.thread
    if not any(
        turn.index >= probe.at and thread in (None, turn.thread) for turn in trace.model_turns
    ):
        raise ScenarioError(f"{where}: {trace.id} has no model turn from step {probe.at} on")


def probes_of(trace: Trace) -> tuple[AskedProbe, ...]:
    """The probes in a trace's labels; `()` without any. Raises ScenarioError for malformed ones."""
    written = trace.labels.get(LABEL, ())
    try:
        probes = msgspec.convert(written, tuple[AskedProbe, ...])
    except msgspec.ValidationError as error:
        raise ScenarioError(f"{trace.id}: labels.{LABEL}: {one_line(error)}") from None
    for probe in probes:
        wrong = type_problem(probe.expected, probe.type)
        if wrong:
            raise ScenarioError(f'{trace.id}: labels.{LABEL}: type "{probe.type}": {wrong}')
    return probes


def turn_after(trace: Trace, probe: AskedProbe) -> ModelTurn | None:
    """The model turn that a probe checks: the first from `at` on, else the last one (for a reply
    the first after the result); None without one."""
    thread = next((result.thread for result in trace.results if result.index == probe.step), None)
    turns = [turn for turn in trace.model_turns if thread in (None, turn.thread)]
    if probe.step is not None:
        turns = [turn for turn in turns if turn.index > probe.step]
    if probe.at is not None:
        turns = [turn for turn in turns if turn.index >= probe.at]
    first = probe.at is not None or (probe.where == "reply" and probe.step is not None)
    return (turns[0] if first else turns[-1]) if turns else None
