"""The error of a strategy, with the slot that it fills."""

from __future__ import annotations

from ..model.errors import BenchError, debugged, one_line
from ..strategies.functions import error_line


class Broken(Exception):
    """A strategy raised, or returned what its slot does not allow."""

    def __init__(self, slot: str, error: BaseException) -> None:
        self.slot = slot
        self.text = reason_of(error)


def reason_of(error: BaseException) -> str:
    """An error of a strategy in one line; with BENCH_DEBUG its traceback is printed."""
    debugged(error)
    return one_line(error) if isinstance(error, BenchError) else error_line(error)


class InSlot:
    """Turns what is raised in the block into Broken, with the name of a slot."""

    def __init__(self, slot: str) -> None:
        self._slot = slot

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if error is not None and not isinstance(error, KeyboardInterrupt | MemoryError):
            raise Broken(self._slot, error) from error
