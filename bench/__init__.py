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
    from .run.auditing import audit as audit
    from .run.case import measure as measure
    from .run.verbs import (
        check as check,
        compare as compare,
        load as load,
        render as render,
        replay as replay,
        run_scenario as run_scenario,
        score as score,
    )
    from .strategies.offloading import offload as offload

__version__ = VERSION
__all__ = [
    "audit",
    "check",
    "compare",
    "load",
    "measure",
    "offload",
    "render",
    "replay",
    "run_scenario",
    "score",
]


def __getattr__(name: str) -> Any:
    if name == "offload":
        from .strategies.offloading import offload

        return offload
    if name == "measure":
        from .run.case import measure

        return measure
    if name == "audit":
        from .run.auditing import audit

        return audit
    if name in __all__:
        from .run import verbs

        return getattr(verbs, name)
    from .model.errors import nearest

    raise AttributeError(f"module 'bench' has no attribute {name!r}{nearest(name, __all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
