"""The child's side of a replay: moments come in as data, outcomes go out as data."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING

from ..model import Counting
from ..plugins.worker import Answer
from ..tokens.counting import TokenCounter
from .cassettes import go_offline
from .loop import Loop
from .plain import encoded
from .recording import Frame

if TYPE_CHECKING:
    from ..plugins.child import Link
    from ..strategies.sandboxed import LoadedStrategies


def open_replay(
    link: Link,
    ready: LoadedStrategies,
    number: int,
    frame: Frame,
    encoding: str,
    counting: Counting,
) -> Answer:
    """A function that answers with the outcomes of one replay, some moments at a time."""
    counter = TokenCounter(encoding, counting, elsewhere=link.count)
    loop = Loop(ready.strategy(number), frame, counter)
    go_offline(ready.place.base, loop.charge)
    return functools.partial(answer, loop)


def answer(loop: Loop, request: bytes) -> bytes:
    """The outcomes of the next moments, as JSON."""
    moments, ended = pickle.loads(request)
    return encoded(loop.outcomes(moments, ended=ended))
