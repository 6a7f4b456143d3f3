"""Who watches over a replay: here nobody does, in a worker process its parent does."""

from __future__ import annotations

import os
import time


class Guard:
    """What a replay tells while it runs. `passing` are what ends the bench itself; whatever else somebody's own strategy raises is its failure.

    `seconds` are what each strategy took so far, by name.
    """

    passing: tuple[type[BaseException], ...] = (KeyboardInterrupt,)

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = 0.0
        self._process = 0

    def starts(self) -> None:
        """A strategy starts."""
        self._since, self._process = time.perf_counter(), os.getpid()

    def step(self, strategy: str, extra_s: float) -> None:
        """A strategy's next step begins; it may take `extra_s` seconds more than others, because what it calls has limits of its own.

        A process that the strategy forked, and that goes on as this one does, ends here.
        """
        if os.getpid() != self._process:
            os._exit(0)

    def ends(self, strategy: str) -> None:
        """A strategy is done; so is a process that it forked."""
        if os.getpid() != self._process:
            os._exit(0)
        self.seconds[strategy] = self.seconds.get(strategy, 0.0) + time.perf_counter() - self._since
