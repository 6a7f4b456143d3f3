"""Handles wherever a strategy shows them: in a summary, in a placeholder, as a file's name; what is behind them is retrievable, at its price."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.replayer.offered import MOST_TRIED, words_tried
from handmade import opened, result
from measured import evidence_of, measured, replayer_of, value

import bench
from bench.model import Message, ModelTurn, Run, Trace
from bench.model.errors import StrategyError
from bench.strategies import Edits, Strategy, Window, parse_strategy, strategy_of
from bench.strategies.offloading import offload

FIRST, SECOND = "471 rows in /data/run.csv", "the plan is W-104"


def recorded() -> Trace:
    """Two results, and a turn that needs something of each."""
    return opened(
        [
            result(FIRST, index=2, call_id="a"),
            ModelTurn(index=3, content="I read on."),
            result(SECOND, index=4, call_id="b"),
            ModelTurn(index=5, content="/data/run.csv has 471, by W-104"),
        ]
    )


def run_with(strategy: Any, trace: Trace | None = None) -> tuple[Trace, Run]:
    """The run of a function, a class or a spec, which must not have failed."""
    trace = trace or recorded()
    compacts = strategy in (ClearsOld, writes_later)
    named = strategy_of({"compactor": strategy} if compacts else strategy, "mine")
    run = replayer_of(trace).run(strategy if isinstance(strategy, Strategy) else named)
    assert run.failure is None, run.failure
    return trace, run


def fails_with(strategy: Any) -> str:
    """The failure of a strategy."""
    run = replayer_of(recorded()).run(strategy if isinstance(strategy, Strategy) else strategy_of(strategy, "mine"))
    assert run.failure is not None
    return f"{run.failure.slot}: {run.failure.error}"


def needed(trace: Trace, run: Run) -> tuple[float | None, float | None]:
    """Of what later turns needed: the share behind a handle, and the share lost."""
    return value("loss.retrievable.needed", trace, run)[0], value("loss.lost.needed", trace, run)[0]


class KeepsAside:
    """A summarizer of somebody's own: nothing of ours in it."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def summarize(self, text: str) -> str:
        handle = f"ref:{len(self._kept)}a"
        self._kept[handle] = text
        return f"[kept as {handle}, {len(text)} characters]"

    def resolve(self, handle: str) -> str:
        return self._kept[handle]


class ClearsOld:
    """A compactor with placeholders that can be resolved."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def compact(self, window: Window) -> Edits:
        old = [message for message in window.messages if message.kind == "result" and not message.text.startswith("[")]
        return Edits(replace=tuple((message, self._cleared(message)) for message in old))

    def _cleared(self, message: Message) -> Message:
        self._kept[f"#{message.step}"] = message.text
        return Message(role="tool", text=f"[see #{message.step}]", kind="result", step=message.step, call_id=message.call_id)  # fmt: skip

    def resolve(self, handle: str) -> str | None:
        return self._kept.get(handle)


def writes_file(text: str) -> str:
    """A plain function that writes what it leaves out to a file."""
    return f"written to {bench.offload(f'results/{len(text)}.txt', text)}"


async def writes_later(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same over message dicts, awaited."""
    for number, message in enumerate(messages):
        if message["role"] == "tool" and not message["content"].startswith("("):
            message["content"] = f"({bench.offload(f'old/{number}.txt', message['content'])})"
    return messages


STRATEGIES = (KeepsAside, ClearsOld, writes_file, writes_later)


# ---------------------------------------------------------------- wherever they are shown


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda item: item.__name__)
def test_what_a_shown_handle_gives_back_is_retrievable_for_what_it_costs(strategy: Any) -> None:
    trace, run = run_with(strategy)
    assert needed(trace, run) == (1.0, 0.0)
    assert value("loss.retrievable.shown", trace, run)[0] == 1.0
    assert {item.text for item in run.handles} == {FIRST, SECOND}
    evidence = evidence_of(trace, run)
    (repair,) = evidence.refetches.values()
    assert (repair.turn, repair.beyond) == (5, ())
    assert sorted(repair.fetched.values()) == sorted(evidence.count.text(text) for text in (FIRST, SECOND))
    assert all(isinstance(fetched, str) for fetched in repair.fetched)


def test_without_the_handle_nothing_is_retrievable() -> None:
    class Hides(KeepsAside):
        def summarize(self, text: str) -> str:
            super().summarize(text)
            return "kept somewhere"

    def hides_file(text: str) -> str:
        bench.offload("results/1.txt", text)
        return "written to a file"

    for strategy in (Hides, hides_file):
        assert needed(*run_with(strategy)) == (0.0, 1.0)


def test_a_cut_handle_is_none() -> None:
    class Cuts(KeepsAside):
        def summarize(self, text: str) -> str:
            return super().summarize(text).replace("a,", "")

    trace, run = run_with(Cuts)
    assert run.handles == ()
    assert needed(trace, run) == (0.0, 1.0)


def test_a_file_that_is_written_again_holds_what_it_held_at_that_time() -> None:
    notes: list[str] = []

    def notebook(text: str) -> str:
        notes[:] = [text]
        return f"see {bench.offload('notes.md', text)}"

    trace, run = run_with(notebook)
    assert [(item.step, item.text) for item in run.handles] == [(2, FIRST), (4, SECOND)]
    assert needed(trace, run) == (1 / 3, 2 / 3)  # at step 5 the notes hold the second result alone
    samples = {sample.step: sample.numerator for sample in measured("loss.retrievable.shown", trace, run)}
    assert samples[2] == 2.0  # at step 3 they held the first one


def test_a_plain_store_with_resolve_is_read_back() -> None:
    class Store:
        def __init__(self) -> None:
            self._kept: dict[str, Any] = {}

        def put(self, text: str) -> str:
            self._kept[f"mem://{len(self._kept)}"] = {"text": text}
            return f"stored as mem://{len(self._kept) - 1}"

        def resolve(self, handle: str) -> Any:
            return self._kept[handle]

    trace, run = run_with({"store": Store})
    assert [outcome.record.handle for outcome in run.results] == ["mem://0", "mem://1"]
    assert [outcome.stored for outcome in run.results] == [{"text": FIRST}, {"text": SECOND}]
    assert run.handles == ()  # they are the records'
    assert needed(trace, run) == (1.0, 0.0)


def test_a_process_names_what_it_keeps(tmp_path: Path) -> None:
    (tmp_path / "aside.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    text = json.loads(line)['result']['text']\n"
        "    print(json.dumps({'answer': f'in file-{len(text)}', 'handles': {f'file-{len(text)}': text}}), flush=True)\n"
    )
    strategy = parse_strategy(f"mine=summarizer=command:{json.dumps(f'{sys.executable} aside.py')}", tmp_path)
    assert needed(*run_with(strategy)) == (1.0, 0.0)


def test_handles_of_a_process_that_are_none_are_its_failure(tmp_path: Path) -> None:
    (tmp_path / "aside.py").write_text(
        'import sys\nfor line in sys.stdin:\n    print(\'{"answer": "x", "handles": [1]}\', flush=True)\n'
    )
    strategy = parse_strategy(f"mine=summarizer=command:{json.dumps(f'{sys.executable} aside.py')}", tmp_path)
    assert "`handles` is a list, expected an object of values by name" in fails_with(strategy)


def test_the_template_of_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/strategies.md").read_text(encoding="utf-8")
    section = page.partition("## What is kept outside of the prompt\n")[2].partition("\n## ")[0]
    (tmp_path / "mine.py").write_text(section.partition("```python\n")[2].partition("```")[0])
    trace, run = run_with(parse_strategy("mine=summarizer=mine.py:to_file:chars=5", tmp_path))
    assert [item.handle for item in run.handles] == ["results/run_script-25.txt", "results/run_script-17.txt"]
    assert needed(trace, run)[1] == 0.0


# ---------------------------------------------------------------- which words are tried


@pytest.mark.parametrize("gives", [KeyError("none"), None, ""], ids=["raises", "None", "nothing"])
def test_what_resolves_to_nothing_is_no_handle(gives: Any) -> None:
    class Forgets(KeepsAside):
        def resolve(self, handle: str) -> Any:
            if isinstance(gives, Exception):
                raise gives
            return gives

    trace, run = run_with(Forgets)
    assert run.handles == ()
    assert needed(trace, run) == (0.0, 1.0)


def test_words_of_the_result_itself_are_not_tried() -> None:
    tried = []

    class Watches:
        def summarize(self, text: str) -> str:
            return f"{text[:8]} … [id=5f1c]"

        def resolve(self, handle: str) -> None:
            tried.append(handle)

    run_with(Watches)
    assert tried == ["id=5f1c", "5f1c", "id=5f1c", "5f1c"]


def test_a_declared_pattern_is_all_that_is_tried() -> None:
    class Notes:
        handles = r"note \w+"

        def summarize(self, text: str) -> str:
            return f"<note {'one' if text == FIRST else 'two'}> 12.5"

        def resolve(self, handle: str) -> str:
            return {"note one": FIRST, "note two": SECOND}[handle]

    trace, run = run_with(Notes)
    assert [item.handle for item in run.handles] == ["note one", "note two"]
    assert needed(trace, run) == (1.0, 0.0)


def test_a_pattern_that_is_none_is_said() -> None:
    class Wrong(KeepsAside):
        handles = "ref:("

    assert "handles='ref:(' is no regular expression" in fails_with(Wrong)


def test_a_text_with_too_many_words_is_noted_once() -> None:
    class Long(KeepsAside):
        def summarize(self, text: str) -> str:
            return " ".join(f"w{number}" for number in range(MOST_TRIED + 1))

    _, run = run_with(Long)
    assert [note.text for note in run.notes] == [
        "more than 1000 words could be handles — declare what they look like: handles = r'…'"
    ]


def test_words_tried() -> None:
    assert list(words_tried("[mem://5f], (a/b.json); “x”, plain words 7.")) == ["mem://5f", "//5f", "a/b.json", "7"]
    assert list(words_tried("")) == []


# ---------------------------------------------------------------- offload


@pytest.mark.parametrize("name", ["", " a", "a\nb", 3])
def test_a_name_that_cannot_be_shown_is_refused(name: Any) -> None:
    with pytest.raises(StrategyError, match="a name is one line of text"):
        offload(name, "x")


def test_outside_of_a_replay_nothing_is_kept() -> None:
    assert bench.offload("a.txt", "x") == "a.txt"


def test_what_cannot_be_kept_fails_its_case() -> None:
    def keeps_function(text: str) -> str:
        return bench.offload("f.txt", print)

    assert fails_with(keeps_function).startswith("summarizer: ")


def test_the_untruncated_side_keeps_nothing() -> None:
    def judged(record: dict[str, Any], history: list[Any]) -> dict[str, Any]:
        bench.offload("judged.txt", f"{len(str(record))}")
        return {"ok": True}

    _, run = run_with({"evaluator": judged, "summarizer": "truncate:limit=3"})
    assert len(run.handles) == len({item.text for item in run.handles})
    assert {item.step for item in run.handles} <= {2, 4}
