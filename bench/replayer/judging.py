"""The evaluator and the routers of a replay, each asked twice: about the record that the strategy
stored and about the untruncated one, so that the two answers can be compared."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from ..model import AnyStep, Decision, Record, RouteDecision
from ..model.errors import StrategyError
from ..plugins.registry import Plugin
from ..strategies import AT_DEFAULT, RECORDED, Strategy
from ..strategies.documents import planned_steps
from ..strategies.user_code.forms import execution_mapping
from .recording import Recording
from .state import Ledger, Start, Threads, in_slot

_DONE = "current_step_index"
"""The key of a router's state that counts the finished steps."""


class Side:
    """The stored or the untruncated side: its own evaluator and routers, and the history that they
    see. Model calls are charged only for the stored side."""

    def __init__(self, strategy: Strategy, start: Start, ledger: Ledger, *, is_full: bool) -> None:
        routers = range(len(strategy.plugins.get("routers", ())))
        self._evaluate = start("evaluator", 0) if strategy.plugins.get("evaluator") else None
        self._routers = [start("routers", place) for place in routers]
        self._ledger, self.is_full = ledger, is_full
        self._executions: list[dict[str, Any]] = []
        self._evaluations: list[dict[str, Any]] = []

    def findings(self, record: Record) -> Any:
        """The findings about a record; both are added to the history."""
        self._ledger.is_free = self.is_full
        if self._routers:  # nothing else reads the executions
            execution = execution_mapping(record)
            del execution["arguments"]
            self._executions.append(execution)
        if self._evaluate is None:
            return None
        with in_slot("evaluator"):
            findings = self._evaluate(record, tuple(self._evaluations))
        if findings is not None:
            self._evaluations.append(findings)
        return findings

    def route(self, place: int, state: dict[str, Any]) -> Any:
        """The route that a router takes, or None; the history is added to `state`."""
        self._ledger.is_free = self.is_full
        state["execution_history"] = tuple(self._executions)
        if self._evaluate is not None:
            state["last_step_evaluation"] = self._evaluations[-1] if self._evaluations else {}
            state["step_evaluation_history"] = tuple(self._evaluations)
        return self._routers[place](state)


class Judges:
    """The evaluator and the routers of a replay, on both sides, and the `decisions` so far."""

    def __init__(
        self,
        strategy: Strategy,
        recording: Recording,
        ledger: Ledger,
        start: Start,
        threads: Threads,
    ) -> None:
        self._recording, self._threads = recording, threads
        self._routers = strategy.plugins.get("routers", ())
        self._answered = [answered(it, self._routers, recording.points) for it in self._routers]
        self._sides = [Side(strategy, start, ledger, is_full=is_full) for is_full in (False, True)]
        self.decisions: list[Decision] = []
        self._results = 0
        self._last_result: dict[str, Any] = {}  # the summary and the untruncated value of it
        self._state: dict[str, Any] = {}  # the recorded state of the last recorded decision
        self._taken: dict[str | None, str] = {}  # the last recorded route of each router

    def evaluated(self, record: Record, full: Record, shown: dict[str, Any]) -> tuple[Any, Any]:
        """The findings about a result by its stored and by its untruncated record.

        `shown` are the entries for the result in a router's state.
        """
        self._results += 1
        self._last_result = shown
        if isinstance(done := self._state.get(_DONE), int):
            self._state = {**self._state, _DONE: done + 1}
        stored, untruncated = self._sides
        return stored.findings(record), untruncated.findings(full)

    # ------------------------------------------------------------ routes

    def decide_as_recorded(self, unanswered: RouteDecision, taken: str) -> None:
        """Let the routers decide where a decision was recorded; they do not see the route taken."""
        self._state = unanswered.state
        self.decide(unanswered.at, unanswered, unanswered)
        self._taken[unanswered.router] = taken

    def decide(
        self, point: str, step: AnyStep | None, recorded: RouteDecision | None = None
    ) -> None:
        """Let the routers that decide at a point do so; `step` is None before the first one."""
        for place, (router, names) in enumerate(zip(self._routers, self._answered, strict=True)):
            if (at := _point_of(router)) == RECORDED:
                is_here = recorded is not None
            else:
                is_here = at == point and (recorded.router in names if recorded else not names)
            if is_here:
                with in_slot(f"router {router.name}"):
                    self._decide(place, router, point, step)

    def _decide(self, place: int, router: Plugin, point: str, step: AnyStep | None) -> None:
        """Let one router decide, once on each side."""
        stored, full = (side.route(place, self._state_at(side, step)) for side in self._sides)
        if None in (stored, full):
            if _point_of(router) == RECORDED:
                return
            what = f"{router.name} returned None at {point}"
            raise StrategyError(f"{what} — return a route's name, or decide at=recorded alone")
        (route, detail), (untruncated, _) = stored, full
        decision = Decision(
            step=-1 if step is None else step.index,
            router=router.name,
            at=point,
            route=route,
            untruncated=untruncated,
            loop=router.attribute("loop"),
            detail=detail,
        )
        self.decisions.append(decision)

    def _state_at(self, side: Side, step: AnyStep | None) -> dict[str, Any]:
        """A router's state: the recorded one and the events since, by the keys of documents 003 and
        004."""
        plans = self._recording.plans
        plan = self._state.get("execution_plan", plans.get("execution_plan", {}))
        state: dict[str, Any] = {
            _DONE: self._results,
            "execution_plan": plan,
            "total_steps": len(planned_steps({"execution_plan": plan})),
            **self._state,
            "step": step,
            **self._last_result,
        }
        if "manifest" in plans:
            state["manifest"] = plans["manifest"]
        if step is not None:
            thread = self._threads[step.thread]
            state["prompt"] = list(thread.recording if side.is_full else thread.messages)
        if isinstance(step, RouteDecision) and step.router in self._taken:
            state["recorded_route"] = self._taken[step.router]
        return state


def answered(
    router: Plugin, routers: Sequence[Plugin], recorded: Set[tuple[str, str | None]]
) -> Set[str | None]:
    """The names of the recorded decisions that a router answers; where there are none it decides at
    its point. `recorded` are the points of the recorded decisions with their names.

    Those at its point are its own, whatever their name, except where another router has that name.
    A router with one of the names, or that detects loops, leaves those with another name.

    >>> from bench.plugins.registry import build
    >>> shipped = [build("router", name) for name in ("executor", "after_execution", "plan")]
    >>> points = {("after_result", "executor"), ("after_evaluation", "judge")}
    >>> [sorted(answered(router, shipped, points)) for router in shipped]
    [['executor'], [], ['judge']]
    >>> answered(shipped[1], shipped[1:], points)
    {'executor'}
    """
    at = _point_of(router)
    names = {name for point, name in recorded if point == at}
    if _called(router) in names or router.attribute("loop"):
        return names & {None, _called(router)}
    return names - {_called(other) for other in routers if _point_of(other) == at}


def _point_of(router: Plugin) -> str:
    """The point at which a router decides."""
    return str(router.attribute("at", AT_DEFAULT))


def _called(router: Plugin) -> str:
    """The name of a router's function, without its file."""
    return router.name.rpartition(":")[2]
