"""A bench that settles arguments about agents' memory: recorded runs through alternative
strategies, measured and gated.

The verbs, in the order of the flow. Importing this package costs nothing: a verb is imported when
it is first asked for.

>>> import bench
>>> found = bench.compare("traces/inventories", {"csv": "summarizer=csv_table"})  # doctest: +SKIP
>>> found.advice.sentence                                                         # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import VERSION

if TYPE_CHECKING:
    from .evidence.index import index_trace as index_trace
    from .run.audits import audit as audit
    from .run.in_agents import compactor as compactor, summarizer as summarizer
    from .run.verbs import compare as compare, render as render, run_scenario as run_scenario
    from .strategies.offloading import offload as offload
    from .traces import load as load

__version__ = VERSION
_PLACES = {
    "audit": ".run.audits",
    "compactor": ".run.in_agents",
    "compare": ".run.verbs",
    "index_trace": ".evidence.index",
    "load": ".traces",
    "offload": ".strategies.offloading",
    "render": ".run.verbs",
    "run_scenario": ".run.verbs",
    "summarizer": ".run.in_agents",
}
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name], __name__), name)
    from .model.errors import nearest

    raise AttributeError(f"module 'bench' has no attribute {name!r}{nearest(name, __all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
