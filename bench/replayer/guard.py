"""Who watches over a replay of somebody's own code: here nobody does, in a worker process its parent does."""

from __future__ import annotations


class Guard:
    """What a replay tells while it runs. `passing` are what ends the bench itself; whatever else a strategy raises is that strategy's failure."""

    passing: tuple[type[BaseException], ...] = (KeyboardInterrupt,)

    def begins(self, strategy: str, extra_s: float = 0.0) -> None:
        """A strategy's next step begins; it may take `extra_s` seconds more than others, because it has limits of its own."""

    def ends(self) -> None:
        """The strategy is done."""
