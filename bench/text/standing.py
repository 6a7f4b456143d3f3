"""Where the words of a long text stand, so that many facts are looked for in it and it is read once."""

from __future__ import annotations

from .facts import occurs_at, runs_in


class Standing:
    """The places of every run of word characters in a decoded text.

    >>> Standing("a/b.csv of 12.5").holds("a/b.csv"), Standing("a/b.csv of 12.5").holds("b.c"), Standing("x").holds("/")
    (True, False, False)
    """

    def __init__(self, plain: str) -> None:
        self._plain = plain
        self._starts: dict[str, list[int]] = {}
        for match in runs_in(plain):
            self._starts.setdefault(match.group(), []).append(match.start())

    def holds(self, fact: str) -> bool:
        """Whether a fact that holds a word stands in the text, not inside a longer word or number: tried where its rarest word stands."""
        places = [(self._starts.get(match.group(), []), match.start()) for match in runs_in(fact)]
        if not places:
            return False
        starts, inside = min(places, key=lambda place: len(place[0]))
        return any(occurs_at(self._plain, fact, start - inside) for start in starts)


class Runs:
    """The places of every word of a text as `bench.text.facts.flat` gives it, a line a paragraph.

    >>> Runs(" bottom of the trench \\n marianas ").holds(" of the "), Runs(" the trench \\n marianas ").holds(" trench marianas ")
    (True, False)
    """

    def __init__(self, flat: str) -> None:
        self._words = flat.split(" ")
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._places.setdefault(word, []).append(place)

    def holds(self, run: str) -> bool:
        """Whether a run of words, with a blank before and after, stands in one paragraph: tried where its rarest word stands."""
        words = run.split()
        places, inside = min(
            ((self._places.get(word, []), at) for at, word in enumerate(words)), key=lambda place: len(place[0])
        )
        return any(
            self._words[place - inside : place - inside + len(words)] == words for place in places if place >= inside
        )
