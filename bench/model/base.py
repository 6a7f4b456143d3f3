"""The base of every value here."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import msgspec

SCHEMA_VERSION = 1
"""The version of all file formats of this package; a reader refuses any other."""


MAX_DEPTH = 200
"""The deepest nesting of a value from outside: below Python's limit of recursion."""


CONTAINERS, LISTS = (dict, list, tuple), (list, tuple)
"""The types of values with others inside. `dict | list` is a new object each time, which takes
longer than the test itself.
"""


def too_deep(value: Any, most: int = MAX_DEPTH) -> bool:
    """True if a value of lists and mappings has more than `most` levels; a scalar has none.

    >>> too_deep([[1]], 2), too_deep([[[]]], 2), too_deep(1, 0)
    (False, True, False)
    """
    level = [value] if isinstance(value, CONTAINERS) else []
    for _ in range(most):
        if not level:
            return False
        inner = itertools.chain.from_iterable(map(_members, level))
        level = [item for item in inner if isinstance(item, CONTAINERS)]
    return bool(level)


def _members(value: Any) -> Iterable[Any]:
    """The values in a mapping or list; none in a scalar."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, LISTS) else ()


def nested(value: Any) -> Iterator[Any]:
    """Yield a value, then all values in its mappings and lists, depth first and in order.

    >>> [*nested({"a": [1, {"b": 2}]})]
    [{'a': [1, {'b': 2}]}, [1, {'b': 2}], 1, {'b': 2}, 2]
    """
    waiting = [value]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, dict):
            waiting.extend(reversed(node.values()))
        elif isinstance(node, LISTS):
            waiting.extend(reversed(node))


class Value(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Base of every value here: frozen, keyword-only, unknown fields refused when read."""


_K = TypeVar("_K")
_V = TypeVar("_V")


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """The second members of pairs, grouped by the first; both keep their order.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


_Self = TypeVar("_Self")
_P = ParamSpec("_P")


def memo(find: Callable[Concatenate[_Self, _P], _V]) -> Callable[Concatenate[_Self, _P], _V]:
    """Decorator that caches a method's answers as long as its object lives; callers must not change
    them.

    >>> class Sizes:
    ...     @memo
    ...     def of(self, text: str) -> list[int]:
    ...         return [len(text)]
    >>> sizes = Sizes()
    >>> sizes.of("abc") is sizes.of("abc")
    True
    """
    name, remember = f"_memo_{find.__name__}", cast(Callable[..., Any], find)

    @functools.wraps(find)
    def known(self: Any, *key: Any) -> Any:
        answers = self.__dict__.get(name)
        if answers is None:
            answers = self.__dict__[name] = {}
        answer = answers.get(key, answers)  # themselves if there is none
        if answer is answers:
            answer = answers[key] = remember(self, *key)
        return answer

    return cast(Callable[Concatenate[_Self, _P], _V], known)


def encodable(text: str) -> str:
    """A text with lone surrogates replaced, so that it can be encoded as UTF-8.

    >>> encodable("a\\ud800b")
    'a�b'
    """
    return text if text.isascii() else _LONE.sub("\ufffd", text)


_LONE = re.compile("[\ud800-\udfff]")


def json_bytes(value: Any, order: Literal["sorted"] | None = None) -> bytes:
    """A value as JSON, lone surrogates in its texts replaced.

    >>> json_bytes({"a\\ud800": ["b\\udfff", 1.5]}).decode()
    '{"a�":["b�",1.5]}'
    """
    try:
        return msgspec.json.encode(value, order=order)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)), order=order)


def _encodable(value: Any) -> Any:
    """A value whose texts can be encoded in UTF-8."""
    if isinstance(value, dict):
        return {encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return encodable(value) if isinstance(value, str) else value


def plain(value: Any) -> Any:
    """A value as JSON data, without the fields that equal their defaults.

    msgspec leaves out a field only if it is the same object as its default, which is not so after
    unpickling or reading.

    >>> from bench.model import UserTurn
    >>> plain(UserTurn(index=0, content="".join(["h", "i"]), thread="".join(["ma", "in"])))
    {'kind': 'user', 'index': 0, 'content': 'hi'}
    """
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if not isinstance(value, msgspec.Struct):
        return value
    values: dict[str, Any] = {}
    if value.__struct_config__.tag_field is not None:
        values[value.__struct_config__.tag_field] = value.__struct_config__.tag
    for name, default in _defaults(type(value)):
        given = getattr(value, name)
        if given is not default and (given != default or type(given) is not type(default)):
            values[name] = plain(given)
    return values


@functools.cache
def _defaults(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    """The fields of a type, each with its default, or NODEFAULT."""
    return tuple(
        (
            field.name,
            field.default
            if field.default_factory is msgspec.NODEFAULT
            else field.default_factory(),
        )
        for field in msgspec.structs.fields(kind)
    )
