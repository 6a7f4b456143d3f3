"""Every value that flows through the bench: Trace → TraceIndex → Replay → Score → Compared.

All are frozen msgspec structs: typed, comparable, and written and read as JSON without further code. No I/O here.
Units are in the names; fractions are 0–1.
"""

from .base import *  # noqa: F403
from .comparison import *  # noqa: F403
from .probe import *  # noqa: F403
from .run import *  # noqa: F403
from .score import *  # noqa: F403
from .trace import *  # noqa: F403
