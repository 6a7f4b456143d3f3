"""The points where routers decide, and the routes that labels expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from ..model import RouteDecision
from ..strategies import RECORDED


def decides_here(
    name: str,
    at: str,
    point: str,
    recorded: RouteDecision | None,
    recorded_points: Set[tuple[str, str | None]],
) -> bool:
    """True if a router decides at a point: where its decisions were recorded, else at its declared
    point.

    >>> step = RouteDecision(index=3, at="after_result", taken="go", router="executor")
    >>> decides_here("executor", "after_result", "after_result", step, set())
    True
    >>> decides_here("executor", "after_result", "after_result", None, {("after_result", "executor")})
    False
    """
    if at == RECORDED:
        return recorded is not None
    if at != point:
        return False
    if recorded is not None:
        return recorded.router in (None, name)
    return not {(point, name), (point, None)} & recorded_points


def labelled_route(
    labels: Mapping[str, Any],
    scripts: Mapping[str, Sequence[str]],
    step: str,
    route: str,
    detail: Mapping[str, Any],
) -> str | None:
    """The route that a trace's labels expect at a step; None without a label.

    If several `scripts` are right, it is the chosen one if that is among them, else the first.

    >>> [labelled_route({}, {"3": ["a", "b"]}, "3", route, {"ranked": [route]}) for route in ("b", "c")]
    ['b', 'a']
    >>> labelled_route({"routes": {"3": "abort"}}, {}, "3", "next", {}), labelled_route({}, {}, "3", "next", {})
    ('abort', None)
    """
    routes = labels.get("routes")
    if isinstance(routes, dict) and step in routes:
        label: str | None = routes[step]
        return label
    is_selection = isinstance(detail.get("ranked"), list)
    accepted = scripts.get(step, ()) if is_selection else ()
    if route in accepted:
        return route
    return accepted[0] if accepted else None
