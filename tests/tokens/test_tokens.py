"""Tokens: what tiktoken says, offline, each text once; the framing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bench.model import Message, ToolCall
from bench.tokens import counting
from bench.tokens.counting import DEFAULT_ENCODING, TokenCounter, _encoding, encoding_for, vocabulary
from tests.reference.tokens import encoding_of

ENCODINGS = ("o200k_base", "cl100k_base")
COUNTERS = {name: TokenCounter(name) for name in ENCODINGS}
TEXTS = (
    "hello world",
    "<|endoftext|> <|fim_prefix|> are plain text here",
    "naïve café 値 🙂 नमस्ते",
    '{"rows":[{"p":1.2e-20},{"p":0.05}]}',
    "def f(x):\n\treturn x  # tabs\r\n",
    " " * 1000,
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.text())
def test_a_count_equals_that_of_tiktoken(encoding, text):
    found = COUNTERS[encoding]
    expected = len(_encoding(encoding).encode_ordinary(text))
    assert found.text(text) == expected
    assert found.text(text) == expected  # from memory


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
def test_special_tokens_and_odd_text_count_as_ordinary_text(encoding, text):
    assert COUNTERS[encoding].text(text) == len(_encoding(encoding).encode(text, disallowed_special=()))


paragraphs = st.lists(
    st.text("ab 1./\n\r\t\u00e9\u0301\u3000<|>'", max_size=8)
    | st.sampled_from(("/* x */", "  indented", "\r\n", "'s")),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(parts=paragraphs)
def test_a_long_text_counted_by_paragraphs_equals_tiktoken(encoding, parts):
    text = "word " * 210 + "\n\n".join(parts)
    assert COUNTERS[encoding].text(text) == len(_encoding(encoding).encode_ordinary(text))


@pytest.mark.parametrize("lone", ["\ud800", "\udfff x", "a\ud83d", "\udc00\ud800"])
def test_a_lone_surrogate_counts_as_the_replacement_character(lone):
    replaced = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in lone)
    assert COUNTERS[DEFAULT_ENCODING].text(lone) == COUNTERS[DEFAULT_ENCODING].text(replaced)


LIKE = [*" \na1-\u3000数🙂\u0301", "\r\n", "Ab"]  # of each class of characters in the patterns of tiktoken


@pytest.mark.slow
@pytest.mark.parametrize("unit", LIKE)
def test_a_million_like_characters_are_counted_where_tiktoken_panics(unit):
    size = 1_050_000
    counted = COUNTERS[DEFAULT_ENCODING].text(unit * (size // len(unit)))
    part = len(_encoding(DEFAULT_ENCODING).encode_ordinary(unit * (100_000 // len(unit))))
    assert counted == pytest.approx(part * size / 100_000, abs=25)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(
    st.lists(
        st.sampled_from(
            ["word", "Wörd's", " ", "\n", "\n\n", "\t", "  ", "12345", "a/b", "//", "...", "\r\n", "数据", "-", "\xa0"]
        )
    )
)
def test_a_text_counted_in_parts_equals_tiktoken(encoding, units):
    text = " ".join(units)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_PART_CHARS", 40)
        patch.setattr(counting, "_NEAR_CHARS", 3)
        counted, parts = TokenCounter(encoding).text(text), list(counting._parts(text))
    assert "".join(parts) == text
    full = [part for part in parts[:-1] if len(part) == 40]
    assert not any(re.search(r"\S[ \t]", part[20:]) for part in full)  # no token ends there
    cut = len(full)
    assert abs(counted - len(_encoding(encoding).encode_ordinary(text))) <= 2 * cut


def test_each_text_is_encoded_once():
    fresh = TokenCounter(DEFAULT_ENCODING)
    encode, seen = fresh._encode, []
    fresh._encode = lambda text: (seen.append(text), encode(text))[1]
    assert [fresh.text("again and again") for _ in range(3)] == [fresh.text("again and again")] * 3
    assert fresh.text("") == 0
    assert seen == ["again and again"]


def test_a_message_costs_its_text_and_its_framing():
    found = COUNTERS[DEFAULT_ENCODING]
    call = ToolCall(id="c1", name="query", arguments={"id": 7})
    plain = Message(role="assistant", text="look", kind="model", step=1)
    calling = Message(role="assistant", text="look", kind="model", step=1, tool_calls=(call, call))
    written = Message(
        role="assistant",
        text="look",
        kind="model",
        step=1,
        tool_calls=(ToolCall(id="c1", name="bash", arguments={"command": "ls"}, in_text=True),),
    )
    empty = Message(role="user", text="", kind="user", step=0)
    one_call = found.text("query") + found.text('{"id":7}')
    assert found.message(empty) == 3
    assert found.message(plain) == 3 + found.text("look")
    assert found.message(calling) == 3 + found.text("look") + 2 * one_call
    assert found.message(written) == found.message(plain)


def test_tool_definitions_cost_their_compact_json():
    tools = ({"name": "query", "parameters": {"type": "object"}},)
    assert COUNTERS[DEFAULT_ENCODING].tools(tools) == COUNTERS[DEFAULT_ENCODING].text(
        '[{"name":"query","parameters":{"type":"object"}}]'
    )
    assert COUNTERS[DEFAULT_ENCODING].tools(()) == 0


@pytest.mark.parametrize(
    ("model", "encoding", "assumed"),
    [
        ("gpt-4o-2024-08-06", "o200k_base", False),
        ("openai/gpt-4.1-mini", "o200k_base", False),
        ("gpt-3.5-turbo", "cl100k_base", False),
        ("azure/openai/gpt-4-0613", "cl100k_base", False),
        ("claude-opus-4-5", "o200k_base", True),
        ("text-davinci-003", "o200k_base", True),  # its vocabulary is not one of the two that are shipped
        ("", "o200k_base", True),
        (None, "o200k_base", True),
    ],
)
def test_each_model_has_its_encoding(model, encoding, assumed):
    assert encoding_for(model) == (encoding, assumed)


# ---------------------------------------------------------------- the vocabularies that are shipped


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_encoding_is_that_of_tiktoken(name):
    """tiktoken proves the tokens by the sha256 of the file that it would fetch, and brings its own pattern."""
    own, known = _encoding(name), encoding_of(name)
    assert own._pat_str == known._pat_str
    assert {token: rank for rank, token in enumerate(vocabulary(name))} == known._mergeable_ranks


OFFLINE = """
import socket

def refuse(*arguments, **named):
    raise OSError("the network is off in this test")

socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from bench.tokens.counting import TokenCounter
print(*(TokenCounter(name).text("hello world") for name in ("o200k_base", "cl100k_base")))
"""


def test_tokens_are_counted_with_the_network_off_and_no_cache(tmp_path):
    folders = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "TMPDIR"), str(tmp_path))
    environment = {**os.environ, **folders, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", OFFLINE]
    counted = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert counted.stdout.split() == ["2", "2"]
    assert list(tmp_path.iterdir()) == []
