"""Translation of a history to the messages of an interface, and of an answer back."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...model import Message, ToolCall
from ...model.base import grouped
from ...model.errors import StrategyError
from .messages import OpenAIMessages, own_calls, role_of


class Bridge:
    """One history in an interface: `given` is the list to hand out, `back` reads the answer, once.

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
        self._beside: list[tuple[int, Message]] = []  # outside the list, after so many messages
        self._groups: list[list[int]] = []  # the places in the history that each item shows
        for message in messages:
            if role_of(message) in dialect.beside:
                self._beside.append((len(self._history), message))
                continue
            if self._history and dialect.joins(self._history[-1], message):
                self._groups[-1].append(len(self._history))
            else:
                self._groups.append([len(self._history)])
            self._history.append(message)
        shown = [tuple(self._history[place] for place in group) for group in self._groups]
        items = [dialect.item_for(each) for each in shown]
        self.given, self._unchanged = [item for item, _ in items], [same for _, same in items]
        self._handed_out = list(self.given)  # the function may empty the list that it was handed
        self._used: set[int] = set()  # the places that came back
        self._next = 0  # the number of the item behind the last one that came back unchanged

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
            while beside and beside[0][0] <= (place or 0):
                messages.append(beside.pop(0)[1])
            messages.append(message)
        return [*messages, *(message for _, message in beside)]

    def _placed(self, items: Sequence[Any]) -> Iterator[tuple[int | None, Message]]:
        """Yield each message of an answer with its place in the history; the place of a new one is
        None.

        An unchanged item is not read again. A changed one belongs to the places that it was handed
        out for; a copy, in an answer as long as the history, to the place where it is.
        """
        handed_out = {id(item): number for number, item in enumerate(self._handed_out)}
        is_same_length = len(items) == len(self._groups)
        for at, item in enumerate(items):
            number = handed_out.get(id(item))
            places = self._if_unchanged(item, number)
            if places is not None:
                yield from ((place, self._history[place]) for place in places)
                continue
            number = at if number is None and is_same_length else number
            try:
                read = self._dialect.read(item)
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                problem = (
                    f"messages[{at}] of the answer cannot be read: {error or type(error).__name__}"
                )
                hint = "give messages like those it was given"
                raise StrategyError(f"{problem} — {hint}") from error
            for one in read:
                place = self._place_of(one, () if number is None else self._groups[number])
                yield place, one if place is None else self._rewritten(place, one)

    def _if_unchanged(self, item: Any, number: int | None) -> Sequence[int] | None:
        """The places of an item that was handed out and is unchanged; None for any other item.

        With several equal ones it is the one with its number, else the next one, else an earlier
        one.
        """
        numbers = range(len(self._unchanged)) if number is None else (number,)
        for at in itertools.chain(numbers[self._next :], numbers[: self._next]):
            if self._unchanged[at] == item and self._used.isdisjoint(self._groups[at]):
                self._used.update(self._groups[at])
                self._next = at + 1
                return self._groups[at]
        return None

    def _place_of(self, one: Message, group: Sequence[int]) -> int | None:
        """The place in the history of a changed message; None for a new one.

        Preferred is a place in its group with one of its calls, then any place with one of its
        calls, then one in its group.
        """
        calls = _call_ids(one)
        near = [place for place in group if calls.intersection(_call_ids(self._history[place]))]
        places = near or sorted(place for call in calls for place in self._by_call.get(call, ()))
        for place in (*places, *group):
            if place not in self._used and role_of(self._history[place]) == one.role:
                self._used.add(place)
                return place
        return None

    @functools.cached_property
    def _by_call(self) -> dict[str, list[int]]:
        """The places that make a call or answer it, by the call's id."""
        places = enumerate(self._history)
        return grouped((call, place) for place, message in places for call in _call_ids(message))

    def _rewritten(self, place: int, one: Message) -> Message:
        """The message of the history at a place, with the text and the calls that came back.

        An unchanged call is the recorded one; calls in the text stay.
        """
        original = self._history[place]
        (given,) = self._dialect.read(self._dialect.write([original], 0))
        if msgspec.structs.astuple(one) == msgspec.structs.astuple(given):
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


def _call_ids(message: Message) -> set[str]:
    """The ids of the calls of a message that are not in its text, and that of the answered call."""
    answered = {message.call_id} if message.call_id else set()
    return {call.id for call in own_calls(message)} | answered
