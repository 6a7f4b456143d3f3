"""A bench that settles arguments about agents' memory: recorded runs through alternative strategies, measured and gated.

The verbs, in the order of the flow. Importing this package costs nothing: a verb is imported when it is first asked for.

>>> import bench
>>> result = bench.compare("traces/building_model/survey.jsonl", {"mine": len, "mask": "compactor=mask_observations"})  # doctest: +SKIP
>>> result.to_frame()                                                                                                 # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import VERSION

if TYPE_CHECKING:
    from .case import measure as measure
    from .pipeline import (
        check as check,
        compare as compare,
        load as load,
        render as render,
        replay as replay,
        run_scenario as run_scenario,
        score as score,
    )
    from .recording import record as record
    from .strategies.own_calls import ask as ask, offload as offload
    from .tuning import tune as tune

__version__ = VERSION
__all__ = [
    "ask",
    "check",
    "compare",
    "load",
    "measure",
    "offload",
    "record",
    "render",
    "replay",
    "run_scenario",
    "score",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in ("ask", "offload"):
        from .strategies import own_calls

        return getattr(own_calls, name)
    if name == "measure":
        from .case import measure

        return measure
    if name == "record":
        from .recording import record

        return record
    if name == "tune":
        from .tuning import tune

        return tune
    if name in __all__:
        from . import pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"module 'bench' has no attribute {name!r}")
