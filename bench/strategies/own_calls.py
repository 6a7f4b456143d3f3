"""What a strategy does beside its answers during a replay: summaries that it writes, values that it offloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..model import WriterCall
from .offloading import offloaded_to


@dataclass
class OwnCalls:
    """Those of one replayed strategy. `charged` are its summaries so far, `step` is the one going on.

    `keep` takes what is offloaded (name, value, step). While `free`, as the untruncated side is asked, nothing is charged or kept.
    """

    keep: Callable[[str, Any, int], None] | None = None
    step: int = -1
    free: bool = False
    charged: list[WriterCall] = field(default_factory=list)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Inside the block what is offloaded is kept here."""
        with offloaded_to(self.keeps):
            yield

    def keeps(self, name: str, value: Any) -> None:
        """Take what is offloaded."""
        if self.keep is not None and not self.free:
            self.keep(name, value, self.step)

    def wrote(self, consumed_tokens: int, produced_tokens: int) -> None:
        """Charge a summary as a compactor tells of it."""
        call = WriterCall(step=self.step, consumed_tokens=consumed_tokens, produced_tokens=produced_tokens)
        self.charged.append(call)
