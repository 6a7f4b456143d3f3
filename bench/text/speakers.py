"""The speaker to whom a line attributes its words, as in `The user said: fix it`."""

from __future__ import annotations

import re
from functools import lru_cache

SPEAKERS = {
    "user": ("user", "human", "customer"),
    "assistant": ("assistant", "agent", "ai", "model"),
    "system": ("system",),
}
"""The names of each role in texts."""

NAMES = frozenset(name for names in SPEAKERS.values() for name in names)
"""The names of all roles."""

_QUOTE = re.compile(
    r"\W*(?:the )?(?P<speaker>"
    + "|".join(sorted(NAMES))
    + r")(?: said| says| wrote| asked| replied)?\W{0,3}:\s*(?P<words>(?:\S.*)?)",
    re.IGNORECASE,
)


@lru_cache(1 << 12)
def speaker_of(line: str) -> tuple[str, str]:
    """The role to which a line attributes words, and the words, `""` if they are on the next lines;
    `("", "")` for any other line.

    >>> speaker_of("The user said: fix it"), speaker_of("User:"), speaker_of("Status: open")
    (('user', 'fix it'), ('user', ''), ('', ''))
    """
    quoted = _QUOTE.fullmatch(line)
    if quoted is None:
        return "", ""
    speaker = quoted["speaker"].casefold()
    return next(role for role, names in SPEAKERS.items() if speaker in names), quoted["words"]
