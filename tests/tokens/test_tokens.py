"""Tokens: what tiktoken says, offline, each text once; the framing; and a cache that survives what happens to caches."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bench.model import Message, ToolCall
from bench.tokens import counting
from bench.tokens.counting import (
    _VOCABULARIES,
    DEFAULT_ENCODING,
    TokenCounter,
    _cached_vocabulary,
    _encoding,
    encoding_for,
)

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
def test_a_count_is_what_tiktoken_gives(encoding, text):
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
def test_a_long_text_counted_by_paragraphs_is_what_tiktoken_gives(encoding, parts):
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
def test_a_text_counted_in_parts_is_what_tiktoken_gives(encoding, units):
    text = " ".join(units)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_PART_CHARS", 40)
        counted, parts = TokenCounter(encoding).text(text), list(counting._parts(text))
    assert "".join(parts) == text
    cut = sum(len(part) == 40 for part in parts)  # no token ended in the second half of the part
    assert abs(counted - len(_encoding(encoding).encode_ordinary(text))) <= 2 * cut


def test_each_text_is_encoded_once():
    fresh = TokenCounter(DEFAULT_ENCODING)
    encode, seen = fresh._encode, []
    fresh._encode = lambda text: (seen.append(text), encode(text))[1]
    assert [fresh.text("again and again") for _ in range(3)] == [fresh.text("again and again")] * 3
    assert fresh.text("") == 0
    assert seen == ["again and again"]


def test_the_framing_of_a_message():
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
def test_the_encoding_of_a_model(model, encoding, assumed):
    assert encoding_for(model) == (encoding, assumed)


# ---------------------------------------------------------------- offline, from an empty cache

OFFLINE = """
import json, socket, sys

def refuse(*arguments, **named):
    raise OSError("the network is off in this test")

socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from bench.tokens.counting import TokenCounter, _encoding
texts = json.load(sys.stdin)
print(json.dumps({name: [[_encoding(name).encode_ordinary(text), TokenCounter(name).text(text)] for text in texts]
                  for name in ("o200k_base", "cl100k_base")}))
"""


def environment(cache: Path) -> dict[str, str]:
    """An environment whose cache is that folder and nothing else."""
    kept = {key: value for key, value in os.environ.items() if key not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")}
    return kept | {"HOME": str(cache), "XDG_CACHE_HOME": str(cache), "TMPDIR": str(cache)}


def start(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", OFFLINE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(cache),
        cwd=Path(__file__).parents[2],
    )


def expected():
    return {
        name: [[_encoding(name).encode_ordinary(text), COUNTERS[name].text(text)] for text in TEXTS]
        for name in ENCODINGS
    }


def test_the_ids_known_from_tiktoken_itself():
    """The published ids of a few texts, so that a wrong vocabulary cannot prove itself right."""
    assert _encoding("o200k_base").encode_ordinary("hello world") == [24912, 2375]
    assert _encoding("cl100k_base").encode_ordinary("hello world") == [15339, 1917]
    assert _encoding("cl100k_base").encode_ordinary("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]


@pytest.mark.slow
def test_tokens_are_counted_with_the_network_off_and_no_cache(tmp_path):
    process = start(tmp_path)
    out, err = process.communicate(json.dumps(TEXTS), timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out) == expected()
    kept = sorted(path.name for path in (tmp_path / "agent-memory-bench" / "tiktoken").iterdir())
    assert len(kept) == 2, "two vocabularies and no scratch file"


@pytest.mark.slow
def test_three_processes_that_rebuild_at_once_do_not_hurt_each_other(tmp_path):
    processes = [start(tmp_path) for _ in range(3)]
    answers = [process.communicate(json.dumps(TEXTS[:1]), timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], [err for _, err in answers]
    assert len({out for out, _ in answers}) == 1
    assert len(list((tmp_path / "agent-memory-bench" / "tiktoken").iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"aGVsbG8= 0\n"])
def test_a_damaged_cache_file_is_rebuilt(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = _cached_vocabulary("cl100k_base")
    assert folder.is_relative_to(tmp_path)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert _cached_vocabulary("cl100k_base") == folder
    assert file.read_bytes() == whole
    assert hashlib.sha256(whole).hexdigest() == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


def test_a_cache_folder_that_cannot_be_made_falls_back_to_the_temporary_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert _cached_vocabulary("cl100k_base").parent == tmp_path


@pytest.mark.parametrize("odd", ["a pipe", "a device", "a folder"])
def test_what_is_no_file_in_the_cache_is_not_read(tmp_path, monkeypatch, odd):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    target = _cached_vocabulary("cl100k_base") / _VOCABULARIES["cl100k_base"][0]
    target.unlink()
    make = {"a pipe": os.mkfifo, "a device": lambda path: path.symlink_to("/dev/zero"), "a folder": Path.mkdir}
    make[odd](target)
    folder = _cached_vocabulary("cl100k_base")
    assert folder.parent == tmp_path, "the temporary folder is taken in its place"
    assert [path.name for path in target.parent.iterdir()] == [target.name], "nothing half made stays"
    assert hashlib.sha256((folder / target.name).read_bytes()).hexdigest() == _VOCABULARIES["cl100k_base"][1]


def test_no_temporary_folder_is_needed_where_there_is_a_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _cached_vocabulary("cl100k_base")

    def none():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    assert _cached_vocabulary("cl100k_base").is_relative_to(tmp_path)


def test_nowhere_to_keep_the_vocabulary_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(OSError, match="no folder to keep the vocabulary cl100k_base in"):
        _cached_vocabulary("cl100k_base")


def test_the_callers_own_cache_setting_is_left_as_it_was(monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/somewhere/else")
    _encoding.__wrapped__("cl100k_base")
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/somewhere/else"
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    _encoding.__wrapped__("cl100k_base")
    assert "TIKTOKEN_CACHE_DIR" not in os.environ
