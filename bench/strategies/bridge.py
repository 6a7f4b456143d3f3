"""Translation of a history to the messages of an interface, and of an answer back."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ..model import Message, ToolCall
from ..model.base import grouped
from ..model.errors import StrategyError
from .messages import OpenAIMessages, own_calls, role_of


class _Beside(NamedTuple):
    """A message outside the list of an interface, and the number of messages before it."""

    place: int
    message: Message


class Bridge:
    """One history in an interface: `given` is the list to hand out, `back` reads the answer.

    A message that comes back unchanged is the same object as in the history. A rewritten one keeps
    its step: it is recognised by the id of its call, or by its place.

    >>> history = [Message(role="user", text=text, kind="user") for text in ("first", "second")]
    >>> bridge = Bridge(OpenAIMessages(), history)
    >>> bridge.given
    [{'role': 'user', 'content': 'first'}, {'role': 'user', 'content': 'second'}]
    >>> bridge.back(bridge.given[1:])[0] is history[1]
    True
    """

    def __init__(self, dialect: OpenAIMessages, messages: Sequence[Message]) -> None:
        self._dialect = dialect
        self._history: list[Message] = []
        self._beside: list[_Beside] = []
        self._groups: list[list[int]] = []  # the places in the history that each item shows
        for message in messages:
            if role_of(message) in dialect.beside:
                self._beside.append(_Beside(len(self._history), message))
                continue
            if self._history and dialect.joins(self._history[-1], message):
                self._groups[-1].append(len(self._history))
            else:
                self._groups.append([len(self._history)])
            self._history.append(message)
        self.given: list[Any] = []
        self._unchanged: list[Any] = []
        for group in self._groups:
            item, same = dialect.item_for(tuple(self._history[place] for place in group))
            self.given.append(item)
            self._unchanged.append(same)
        self._handed_out = list(self.given)  # the function may empty the list that it was handed

    def back(self, answer: Any) -> list[Message]:
        """The messages of an answer; None or a truth value means the list that was handed out.

        Raises StrategyError for anything but a list of messages.
        """
        left_as_it_is = answer is None or isinstance(answer, bool)
        items = self._dialect.answer(self.given if left_as_it_is else answer, self._handed_out)
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Sequence):
            what = "a compactor that is given a list of messages gives one back, or None"
            hint = "return the list, or {'messages': the list}"
            raise StrategyError(f"{what}; got {type(items).__name__} — {hint}")
        messages: list[Message] = []
        beside = list(self._beside)
        for place, message in self._placed(items):
            while beside and beside[0].place <= (place or 0):
                messages.append(beside.pop(0).message)
            messages.append(message)
        return [*messages, *(it.message for it in beside)]

    def _placed(self, items: Sequence[Any]) -> Iterator[tuple[int | None, Message]]:
        """Yield each message of an answer with its place in the history; the place of a new one is
        None.

        An unchanged item is not read again. A changed one belongs to the places that it was handed
        out for; a copy, in an answer as long as the history, to the place where it is.
        """
        matching = _Matching(self._history, self._groups, self._unchanged)
        handed_out = {id(item): number for number, item in enumerate(self._handed_out)}
        is_same_length = len(items) == len(self._groups)
        for at, item in enumerate(items):
            number = handed_out.get(id(item))
            places = matching.unchanged(item, number)
            if places is not None:
                yield from ((place, self._history[place]) for place in places)
                continue
            number = at if number is None and is_same_length else number
            for one in self._read(at, item):
                place = matching.place_of(one, () if number is None else self._groups[number])
                yield place, one if place is None else self._rewritten(place, one)

    def _read(self, at: int, item: Any) -> list[Message]:
        """The messages in one item of an answer. Raises StrategyError for an item that cannot be
        read."""
        try:
            return self._dialect.read(item)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            what = f"messages[{at}] of the answer cannot be read"
            problem = f"{what}: {error or type(error).__name__}"
            raise StrategyError(f"{problem} — give messages like those it was given") from error

    def _rewritten(self, place: int, one: Message) -> Message:
        """The message of the history at a place, with the text and the calls that came back.

        An unchanged call is the recorded one; calls in the text stay.
        """
        original = self._history[place]
        (given,) = self._dialect.read(self._dialect.write([original], 0))
        if _content(one) == _content(given):
            return original
        in_text = [call for call in original.tool_calls if call.in_text]
        recorded = [*zip(given.tool_calls, own_calls(original), strict=True)]

        def recorded_call(call: ToolCall) -> ToolCall:
            return next((own for as_given, own in recorded if as_given == call), call)

        calls = map(recorded_call, one.tool_calls)
        call_id = original.call_id if one.call_id is None else one.call_id
        return msgspec.structs.replace(
            original, text=one.text, tool_calls=(*in_text, *calls), call_id=call_id
        )


class _Matching:
    """Matches the items of one answer to places in the history, each place once.

    `items` are unchanged copies of those that were handed out, each for the places in `groups`.
    """

    def __init__(
        self, history: Sequence[Message], groups: Sequence[Sequence[int]], items: Sequence[Any]
    ) -> None:
        self._history, self._groups, self._items = history, groups, items
        self._used: set[int] = set()
        self._next = 0  # the number of the item behind the last one that came back

    def unchanged(self, item: Any, number: int | None) -> Sequence[int] | None:
        """The places of an item that was handed out and is unchanged; None for any other item.

        With several equal ones it is the one with its number, else the next one, else an earlier
        one.
        """
        numbers = range(len(self._items)) if number is None else (number,)
        for at in itertools.chain(numbers[self._next :], numbers[: self._next]):
            if self._items[at] == item and self._used.isdisjoint(self._groups[at]):
                self._used.update(self._groups[at])
                self._next = at + 1
                return self._groups[at]
        return None

    def place_of(self, one: Message, group: Sequence[int]) -> int | None:
        """The place in the history of a changed message; None for a new one.

        Preferred is a place in its group with one of its calls, then any place with one of its
        calls, then one in its group.
        """
        calls = _call_ids(one.tool_calls, one.call_id)
        near = [place for place in group if calls.intersection(self._calls_at(place))]
        places = near or sorted(place for call in calls for place in self._by_call.get(call, ()))
        for place in (*places, *group):
            if place not in self._used and role_of(self._history[place]) == one.role:
                self._used.add(place)
                return place
        return None

    def _calls_at(self, place: int) -> set[str]:
        message = self._history[place]
        return _call_ids(own_calls(message), message.call_id)

    @functools.cached_property
    def _by_call(self) -> dict[str, list[int]]:
        """The places that make a call or answer it, by the call's id."""
        places = range(len(self._history))
        return grouped((call, place) for place in places for call in self._calls_at(place))


def _content(message: Message) -> tuple[Any, ...]:
    """The parts of a message that an interface shows."""
    return message.role, message.text, message.call_id, message.tool_calls


def _call_ids(calls: Iterable[ToolCall], answered: str | None) -> set[str]:
    """The ids of some calls, and the id of the answered call."""
    return {call.id for call in calls} | ({answered} if answered else set())
