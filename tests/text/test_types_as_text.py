"""Annotations are read, never run."""

from __future__ import annotations

import collections.abc
import enum
import re
import typing
from pathlib import Path

import msgspec
import pytest
from bench.plugins.annotations import NoType, type_of

ROOT = Path(__file__).parents[2]


class Mode(enum.Enum):
    FAST = "fast"


READ = [
    "int", "None", "str | None", "list[int]", "dict[str, list[int]]", "tuple[int, ...]", "typing.Literal['a', 1, -1, None]", "Mode", "'Mode'",
    "typing.Optional['int']", "typing.Annotated[int, 'text', 3]", "typing.Annotated[int, msgspec.Meta(ge=1, le=9)]",
    "collections.abc.Callable[[int], str]", " int ",
]  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_a_type_is_what_python_makes_of_it(text):
    assert (
        type_of(text, globals())
        == typing.get_type_hints(
            type("T", (), {"__annotations__": {"x": text.strip()}}), globals(), include_extras=True
        )["x"]
        or text == "None"
    )


@pytest.mark.parametrize(
    "text",
    ["print('run')", "open('/etc/passwd')", "__import__('os').system('touch x')", "[x for x in ()]", "(lambda: int)()", "unknown",
     "int if 1 else str",
     "msgspec.Meta(ge=print(1))", "typing.Annotated[int, print(1)]", "int[", "", "x := int", "typing.nothing", "f'{print(1)}'", "(" * 3000,
     "msgspec.Meta(1)", "'print(1)'", "await x"],
)  # fmt: skip
def test_what_is_no_type_is_not_run(text, capsys):
    with pytest.raises(NoType):
        type_of(text, globals())
    assert capsys.readouterr().out == ""


def test_nothing_is_evaluated_anywhere():
    for file in (ROOT / "bench").rglob("*.py"):
        found = re.findall(r"(?<![\w.])(?:eval|exec)\(|get_type_hints\(", file.read_text(encoding="utf-8"))
        assert not found, f"{file}: {found}"


assert collections.abc
assert msgspec
