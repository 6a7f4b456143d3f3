"""The values that flow between the rooms, in order: Trace → TraceIndex → Replay → MeasuredRun →
Compared.

All are frozen msgspec structs: typed, comparable, and readable and writable as JSON. No I/O here.
Units are in the names; fractions are 0–1.
"""

from .base import *  # noqa: F403
from .metric import *  # noqa: F403
from .outcome import *  # noqa: F403
from .probe import *  # noqa: F403
from .signature import *  # noqa: F403
from .trace import *  # noqa: F403
