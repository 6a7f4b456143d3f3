"""The hand-labelled dependencies: reading their files, and finding the turn that each record points at.

`tests/data/dependencies/README.md` says what the records mean.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from readers import BUILDING_AGENT, WHO_AND_WHEN

from bench.model import AnyStep, ModelTurn, SystemTurn, ToolResult, Trace, UserTurn
from bench.traces import load

REPOSITORY = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "data" / "dependencies"
FORMS = ("verbatim", "composed", "reformatted", "rounded", "paraphrase", "derived")
WHYS = ("boilerplate", "habit", "api_name", "common_word", "coincidence", "own_invention")
READERS = {"rap": BUILDING_AGENT, "who_and_when": WHO_AND_WHEN}  # readers that only tests have
ORIGINS = {"system": SystemTurn, "user": UserTurn, "model": ModelTurn, "result": ToolResult}
LONGEST = 60


@dataclass(frozen=True)
class Label:
    """One labelled string of one model turn. `kind` is the name of the file it stands in, without its ending.

    A dependency has `form`, `origin` and `origin_step`, and `told` (the origin's own words) unless it is verbatim; anything else has `why`.
    """

    kind: str
    trace: str
    case: str
    format: str
    step: int
    fact: str
    dependency: bool
    form: str | None = None
    why: str | None = None
    origin: str | None = None
    origin_step: int | None = None
    told: str | None = None
    whole_turn: bool = False

    @property
    def turn(self) -> tuple[str, str, int]:
        """The turn it is about: trace, case, step."""
        return self.trace, self.case, self.step

    @property
    def source(self) -> str:
        """The text in the origin: `told`, or the fact itself."""
        return self.fact if self.told is None else self.told


def read_labels(folder: Path = FOLDER) -> tuple[Label, ...]:
    """Every record of a folder's `*.jsonl`, in the order of the files' names and of their lines.

    Raises ValueError, one line with file and line, for a record that is not one.
    """
    found: list[Label] = []
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found.append(_label(path.stem, json.loads(line)))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path.name}:{number}: {error} — see README.md beside it") from None
    return tuple(found)


def _label(kind: str, record: dict[str, Any]) -> Label:
    known = {field.name for field in fields(Label)} - {"kind"}
    if unknown := sorted(record.keys() - known):
        raise ValueError(f"unknown fields {', '.join(unknown)}")
    label = Label(kind=kind, **record)
    for name in ("fact", "told"):
        text = getattr(label, name)
        if text is not None and not 0 < len(text) <= LONGEST:
            raise ValueError(f"{name} has {len(text)} characters, 1 to {LONGEST} are allowed")
    if label.dependency:
        if label.form not in FORMS or label.origin not in ORIGINS or label.origin_step is None or label.why is not None:
            raise ValueError("a dependency has form, origin and origin_step, and no why")
        if (label.form == "verbatim") is not (label.told is None):
            raise ValueError("told stands with every form but verbatim")
        if not label.origin_step < label.step:
            raise ValueError(f"origin_step {label.origin_step} is not before step {label.step}")
    elif label.why not in WHYS or (label.form, label.origin, label.origin_step, label.told) != (None,) * 4:
        raise ValueError("what is no dependency has why, and no form, origin, origin_step or told")
    return label


class Corpus:
    """The traces that labels point at: the recorded ones in a folder, the project's own below `traces/`. Each is read once."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._read: dict[tuple[str, str], Trace] = {}

    def trace(self, label: Label) -> Trace:
        """The trace of a label. Raises TraceError or ValueError where it cannot be read."""
        key = (label.trace, label.case)
        if key not in self._read:
            self._read[key] = self._load(label)
        return self._read[key]

    def _load(self, label: Label) -> Trace:
        own = label.trace.startswith("traces/")
        if not own and self.folder is None:
            raise ValueError(f"{label.trace}: the recorded traces are not here")
        path = (REPOSITORY if own or self.folder is None else self.folder) / label.trace
        stem, hash_sign, position = label.case.rpartition("#")
        if label.format == "messages" and hash_sign:
            # a list of runs, each with its messages as `traj`: no reader takes the list, the messages reader takes one run
            runs = json.loads(path.read_text(encoding="utf-8"))
            return _one_run(runs[int(position)]["traj"], f"{stem}#{position}")
        reader = READERS.get(label.format, label.format)
        found = {trace.id: trace for trace in load([f"{reader}:{path}"]).traces}
        if label.case not in found:
            raise ValueError(f"{label.trace}: no case {label.case!r}, only {', '.join(found)}")
        return found[label.case]


def _one_run(messages: list[Any], name: str) -> Trace:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_text(json.dumps({"id": name, "messages": messages}), encoding="utf-8")
        (trace,) = load([f"messages:{path}"]).traces
    return trace


def step_of(trace: Trace, index: int) -> AnyStep | None:
    """The step with an index, as the reader numbers them; None where there is none."""
    return next((step for step in trace.steps if step.index == index), None)


def texts_of(step: AnyStep) -> tuple[str, ...]:
    """The texts of a message: its text, and every string inside it where that text, a result's value or a call's arguments are JSON.

    A model turn: its content, and names and arguments of its tool calls (unless the content itself holds them). Its reasoning is left out.
    """
    if isinstance(step, SystemTurn | UserTurn):
        return (step.content,)
    if isinstance(step, ModelTurn):
        calls = [(call.name, call.arguments) for call in step.tool_calls if not call.in_text]
        return (step.content, *_strings(calls, numbers=True))
    if isinstance(step, ToolResult):
        return (step.text, *_strings(step.text), *_strings(step.data))
    return ()


def says(texts: tuple[str, ...], words: str) -> bool:
    """True if a text has these words, not inside a longer word or number.

    >>> says(("12.5 of 386 genes",), "386"), says(("12.5 of 386 genes",), "12"), says(("x_386",), "386")
    (True, False, False)
    """
    before = r"(?<!\w)(?<!\d\.)" if re.match(r"\w", words) else ""
    after = r"(?!\w)(?!\.\d)" if re.search(r"\d\Z", words) else r"(?!\w)" if re.search(r"\w\Z", words) else ""
    pattern = re.compile(before + re.escape(words) + after)
    return any(pattern.search(text) for text in texts)


def _strings(value: Any, numbers: bool = False) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value.lstrip()[:1] in ("{", "["):
            try:
                inner = json.loads(value)
            except ValueError:
                return
            yield from _strings(inner, numbers)
    elif isinstance(value, dict):
        yield from _strings([*value, *value.values()], numbers)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item, numbers)
    elif numbers and value is not None:
        yield json.dumps(value)
