"""What every registered reader must do, tried on its sample files: a newcomer's file is tested as soon as a sample lies in `data/formats`.

A sample of the reader `x` is `data/formats/x.ANYTHING` or a file in `data/formats/x/`.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from reread import FORMATS, READ, sure_of, told
from test_readers_hostile import ODD, ask_everyone, outcome, places, replaced

from bench.model import Trace
from bench.model.errors import TraceError
from bench.plugins.registry import Entry, entries
from bench.traces import Near, load
from bench.traces.documents import Document
from bench.traces.formats.native import encode_trace, write_trace

READERS = list(entries("reader").values())
MARK = "hologram-7f3a"


def samples(name: str) -> list[Path]:
    folder = FORMATS / name
    inside = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    return [*sorted(path for path in FORMATS.iterdir() if path.is_file() and path.name.split(".")[0] == name), *inside]


FILES = [(entry.name, path) for entry in READERS for path in samples(entry.name)]
every = pytest.mark.parametrize("entry", READERS, ids=lambda entry: entry.name)
each = pytest.mark.parametrize(("name", "path"), FILES, ids=lambda item: item.name if isinstance(item, Path) else item)


def value_of(path: Path) -> Any:
    """A sample as one value: its JSON, the list of its lines; None where it is neither."""
    document = Document(path)
    if document.problem is not None:
        return None
    return [node.value for node in document.line_nodes()] if document.is_json_lines else document.json


VALUES = [(name, path, value) for name, path in FILES if (value := value_of(path)) is not None]


def written(folder: Path, path: Path, value: Any) -> Document:
    """A changed sample, in the form of the sample."""
    target = folder / f"changed{path.suffix}"
    text = "\n".join(map(json.dumps, value)) if Document(path).is_json_lines else json.dumps(value)
    target.write_text(text, encoding="utf-8")
    return Document(target)


# ---------------------------------------------------------------- what it says of itself


@every
def test_it_is_documented_and_has_a_sample(entry: Entry) -> None:
    first = entry.doc.split("\n\n")[0]
    assert first.rstrip().endswith((".", ":")), "the docstring starts with a sentence"
    assert entry.source, "the docstring has a `Source:` line"
    assert samples(entry.name), f"no sample: tests/data/formats/{entry.name}.json"


@each
def test_a_sample_is_known_by_its_content_to_its_reader_alone(name: str, path: Path) -> None:
    assert sure_of(Document(path)) == [name]


@each
def test_a_sample_is_read_and_comes_back_from_the_native_format(name: str, path: Path, tmp_path: Path) -> None:
    loaded = load([f"{name}:{path}"])
    assert loaded.traces
    for number, trace in enumerate(loaded.traces):
        assert trace.steps
        assert trace.source.format == name
        indices = [step.index for step in trace.steps]
        assert indices == sorted(set(indices))
        write_trace(trace, tmp_path / f"{number}.jsonl")
    back = [load([str(tmp_path / f"{number}.jsonl")]).traces[0] for number in range(len(loaded.traces))]
    assert back == list(loaded.traces)
    assert [trace.sha256 for trace in back] == [trace.sha256 for trace in loaded.traces]
    assert loaded == load([f"{name}:{path}"])


@pytest.mark.parametrize("accepted", sorted(READ.rglob("*.jsonl")), ids=lambda path: path.stem)
def test_a_sample_says_what_was_accepted(accepted: Path) -> None:
    """After a change that is meant, `python tests/reread.py` takes what is read now; read the diff."""
    name = accepted.parent.name
    (path,) = (path for reader, path in FILES if (reader, path.name) == (name, accepted.stem))
    now, before = told(path, name).splitlines(), accepted.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in now] == [json.loads(line) for line in before]
    assert now == before


@each
def test_sniffing_says_what_is_there_and_never_raises(name: str, path: Path) -> None:
    for entry in READERS:
        sniffed = entry.target().sniff(Document(path))
        if isinstance(sniffed, Near):
            assert sniffed.has
            assert sniffed.lacks
            assert entry.name != name


# ---------------------------------------------------------------- hostile input


@given(data=st.data())
def test_bytes_cut_or_changed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    _, path = data.draw(st.sampled_from(FILES))
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        del raw[at:]
    else:
        raw[at] = data.draw(st.integers(0, 255))
    target = tmp_path_factory.getbasetemp() / f"cut{path.suffix}"
    target.write_bytes(raw)
    ask_everyone(target)


@given(data=st.data())
def test_one_odd_value_anywhere(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    name, path, value = data.draw(st.sampled_from(VALUES))
    changed = replaced(value, data.draw(st.sampled_from(places(value))), data.draw(ODD))
    if Document(path).is_json_lines and not isinstance(changed, list):
        changed = [changed]
    document = written(tmp_path_factory.getbasetemp(), path, changed)
    ask_everyone(document.path)
    try:
        assert load([f"{name}:{document.path}"]).traces
    except TraceError as error:  # the one line that a user gets
        complaint = str(error)
    else:
        complaint = ""
    assert "\n" not in complaint


# ---------------------------------------------------------------- nothing is dropped in silence


def lists_of_typed(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every list of objects that say what they are, and the key by which they do."""
    if isinstance(value, list):
        for key in ("type", "role", "kind", "source", "event"):
            if value and all(isinstance(item, dict) and isinstance(item.get(key), str) for item in value):
                yield path, key
                break
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from lists_of_typed(item, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def said(traces: list[Trace]) -> str:
    return "".join(encode_trace(trace).decode() for trace in (named(trace) for trace in traces))


def named(trace: Trace) -> Trace:
    return msgspec.structs.replace(trace, id=trace.id or "x")


def left(traces: list[Trace]) -> int:
    return sum(sum(trace.left_out.values()) for trace in traces)


SAID_AGAIN = {
    "anthropic": r"citations$",  # where a quotation is from, beside the quotation
    "claude_code": r"toolUseResult|^16\.|^2[12]\.",  # what the result says; a message of Claude Code's own; a line that is there twice
    "codex": r"payload\.result\.",  # what the output says
    "inspect_log": r"events_data|events\.\d+\.input$",  # the pool of messages that prompts are made of
    "langchain": r"tool_calls$",  # beside the content's own blocks
    "langgraph": r"tool_calls$|tasks|__start__|^\d+\..*content$",  # states repeat their messages
    "langsmith": r"tool_calls$",
    "otel_genai": r"^$",  # a span without a trace
    "request_log": r"^4\.",  # the request of a call that failed, which the next call makes again
    "swe_agent": r"thinking_blocks$|trajectory\.\d+\.query$",  # the thought as text; the prompt, which the history has
}
"""Where samples say again what they say elsewhere, or what no prompt holds: by reader, the places as a pattern."""


def is_said_again(name: str, place: tuple[Any, ...]) -> bool:
    return name in SAID_AGAIN and re.search(SAID_AGAIN[name], ".".join(map(str, place))) is not None


FOREIGN = [
    pytest.param(name, path, value, place, key, id=f"{name}-{path.stem}-{'.'.join(map(str, place))}")
    for name, path, value in VALUES
    for place, key in lists_of_typed(value)
    if not is_said_again(name, place)
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "path", "value", "place", "key"), FOREIGN)
def test_a_thing_of_an_unknown_kind_is_an_error_or_counted_or_kept(
    name: str, path: Path, value: Any, place: tuple[Any, ...], key: str, tmp_path: Path
) -> None:
    reader = entries("reader")[name].target()
    before, _ = outcome(reader, written(tmp_path, path, value))
    changed = copy.deepcopy(value)
    at(changed, place).append({key: "hologram", "content": MARK, "text": MARK})
    after, complaint = outcome(reader, written(tmp_path, path, changed))
    assert complaint is not None or MARK in said(after) or left(after) > left(before)
