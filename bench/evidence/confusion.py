"""Where each router went against where it should have gone, counted."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Decision

Confusion = dict[str, dict[str, dict[str, int]]]
"""Router → expected route → taken route → how often."""


def confusion(decisions: Iterable[Decision]) -> Confusion:
    """The confusion matrix of every router, names sorted; only what happened is in it. `{}` for no decisions.

    >>> made = [Decision(step=1, router="r", at="end", route="go", untruncated="go", labelled=label) for label in ("go", "stop")]
    >>> confusion(made)
    {'r': {'go': {'go': 1}, 'stop': {'go': 1}}}
    """
    counts: dict[tuple[str, str, str], int] = {}
    for decision in decisions:
        key = decision.router, decision.expected, decision.route
        counts[key] = counts.get(key, 0) + 1
    found: Confusion = {}
    for (router, expected, taken), count in sorted(counts.items()):
        found.setdefault(router, {}).setdefault(expected, {})[taken] = count
    return found
