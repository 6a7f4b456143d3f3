"""Code as other people have it: in packages, classes and methods, with their own types, decorated, and written for another place."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from handmade import conversation_of, result
from measured import replayed_or_failed
from theirs import refusal, run_of, text_shown, with_one_result, write

import bench
from bench.cli import main
from bench.model import ModelTurn
from bench.traces.formats.native import encode_trace

# ---------------------------------------------------------------- where it lies


def package(folder: Path, limit: int = 2) -> None:
    for name in ("agent", "agent/tools"):
        write(folder, "", f"{name}/__init__.py")
    write(folder, f"LIMIT = {limit}\n", "agent/config.py")
    write(
        folder, "from ..config import LIMIT\n\ndef cut(text: str):\n    return text[:LIMIT]\n", "agent/tools/helpers.py"
    )
    write(
        folder,
        "from agent.tools.helpers import cut\n\ndef short(text: str):\n    return cut(text)\n",
        "agent/tools/named.py",
    )
    write(folder, "from .helpers import cut\n\ndef short(text: str):\n    return cut(text)\n", "agent/tools/beside.py")
    write(
        folder,
        "def short(text: str):\n    from ..config import LIMIT\n    return text[:LIMIT]\n\ndef plain(text: str):\n    return text[:1]\n",
        "agent/tools/late.py",
    )


@pytest.mark.slow
@pytest.mark.parametrize("file", ["named", "beside", "late"])
def test_a_file_in_a_package_imports_as_the_package_does(tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    package(tmp_path)
    for spec in (f"m=summarizer=agent/tools/{file}.py:short", f"m=summarizer=agent.tools.{file}:short"):
        assert text_shown(replayed_or_failed(with_one_result(), spec)) == '{"'


def test_two_revisions_of_a_package_are_separate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, limit in (("old", 2), ("new", 5)):
        package(tmp_path / name, limit)
    texts = [
        text_shown(replayed_or_failed(with_one_result(), f"m=summarizer={name}/agent/tools/named.py:short"))
        for name in ("old", "new", "old")
    ]
    assert [len(text) for text in texts] == [2, 5, 2]


def test_a_package_is_imported_only_if_the_file_needs_it(tmp_path):
    package(tmp_path)
    write(tmp_path, "raise RuntimeError('a server starts')\n", "agent/__init__.py")
    write(tmp_path, "def short(text: str):\n    return text[:3]\n", "agent/tools/alone.py")
    assert text_shown(run_of(tmp_path, "summarizer=agent/tools/alone.py:short")) == '{"i'
    assert "(__init__.py:1): cannot be imported: RuntimeError: a server" in refusal(
        tmp_path, "summarizer=agent/tools/named.py:short"
    )


def by_command(path, strategies):
    written = [f"--strategy={name}={'+'.join(map('='.join, slots.items()))}" for name, slots in strategies.items()]
    with pytest.raises(SystemExit) as ended:
        main(["run", str(path), *written, "-o", "out.json"])
    assert ended.value.code == 0
    return msgspec.json.decode(Path("out.json").read_bytes())["totals"]


def by_function(path, strategies):
    return msgspec.to_builtins(bench.compare(str(path), strategies).totals)


@pytest.mark.parametrize("door", [by_command, by_function])
def test_modules_of_the_same_name_in_two_folders_are_separate(tmp_path, monkeypatch, door):
    monkeypatch.chdir(tmp_path)
    text = "there are 4711 rows in data/walls.csv, and 905 in data/doors.csv"
    path = tmp_path / "run.jsonl"
    path.write_bytes(
        encode_trace(conversation_of([result(text, index=2), ModelTurn(index=3, content="905, and 4711.")]))
    )
    for folder, chars in (("a", 20), ("b", 50)):
        write(tmp_path, f"CHARS = {chars}\n", f"{folder}/limits.py")
        write(
            tmp_path, "from limits import CHARS\ndef cut(text: str):\n    return text[:CHARS]\n", f"{folder}/rules.py"
        )
    slots = {name: f"{name}/rules.py:cut" for name in "ab"}
    strategies = {name: {"summarizer": spec, "store": spec} for name, spec in slots.items()}
    strategies["mixed"] = {"summarizer": slots["a"], "store": slots["b"]}
    together = door(path, strategies)
    measures = ("cost.prompt_tokens", "loss.fact_recall.shown", "loss.fact_recall.stored")
    found = {name: [together[name][measure] for measure in measures] for name in strategies}
    assert all(mine != other for mine, other in zip(found["a"], found["b"], strict=True))
    assert found["mixed"] == [*found["a"][:2], found["b"][2]]
    for name in "ab":
        alone = door(path, {name: strategies[name]})
        assert [alone[name][measure] for measure in measures] == found[name]


# ---------------------------------------------------------------- what it is

CLASSES = """
class Notes:
    def __init__(self, limit: int = 4):
        self.limit, self.calls = limit, 0

    def __call__(self, text: str):
        self.calls += 1
        return f"{self.calls} {text[: self.limit]}"


class Manager:
    limit = 3

    def process(self, text: str):
        return text[: self.limit]

    @staticmethod
    def clean(text: str):
        return text.upper()[:6]

    @classmethod
    def build(cls, text: str):
        return text[: cls.limit + 1]


manager = Manager()
"""


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("mine.py:Notes", '1 {"is'),
        ("mine.py:Notes:limit=2", '1 {"'),
        ("mine.py:Manager.process", '{"i'),
        ("mine.py:Manager.clean", '{"IS_S'),
        ("mine.py:Manager.build", '{"is'),
        ("mine.py:manager.process", '{"i'),
        ("mine:Manager.process", '{"i'),
    ],
)
def test_callables_and_methods_are_strategies(tmp_path, spec, text):
    for _ in range(2):  # a class lives for one case
        assert text_shown(run_of(tmp_path, f"summarizer={spec}", CLASSES)) == text


def test_a_callable_class_passed_from_python_is_a_strategy():
    class Short:
        def __call__(self, text: str):
            return text[:2]

    assert text_shown(replayed_or_failed(with_one_result(), Short)) == '{"'


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("summarizer=mine.py:Manager", "the class has no method 'summarize' — name the one that is meant: mine.py:Manager.process"),
        ("summarizer=mine.py:manager", "mine.py has no function 'manager' — did you mean Manager?"),
        ("summarizer=mine.py:Manager.proces", "mine.py has no function 'Manager.proces' — did you mean Manager?"),
        ("mask_observations:keep_last=2", "names no slot"),
        ("truncate", "names no slot"),
        ('command:"cat"', "names no slot"),
        ("summarizer=mine.py:nothing", "mine.py has no function 'nothing' — known: Manager, Notes"),
    ],
)  # fmt: skip
def test_a_spec_of_an_object_that_cannot_be_called_is_refused_with_an_example(tmp_path, spec, says):
    assert says in refusal(tmp_path, spec, CLASSES)


# ---------------------------------------------------------------- what it asks for

TYPES = """
from dataclasses import dataclass
from typing import Annotated, Optional
from pydantic import BaseModel


class Model(BaseModel):
    output: str
    structured_output: list[dict] = []


@dataclass
class Summary:
    text: str


class Foreign:
    pass


def of_model(raw: Optional[Annotated[dict, "raw"]]) -> Model:
    return Model(**raw)

def models(text: str):
    return [Summary(text[:2]), Model(output="x")]

def alone(error: str) -> str:
    return error[:3]

def either(value: dict | str) -> str:
    return type(value).__name__

def hidden(*args, **kwargs):
    return args[0].function

def anything(text: str, **options):
    return text

def context(ctx: Foreign, messages: list[dict]):
    return messages
"""


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("of_model", '{"output":"a\\nb\\nc","structured_output":[]}'),
        ("models", '[{"text":"{\\""},{"output":"x","structured_output":[]}]'),
        ("alone", '{"i'),
        ("either", "dict"),
        ("hidden", "run_script"),
    ],
)
def test_functions_get_the_types_of_their_annotations(tmp_path, function, text):
    assert text_shown(run_of(tmp_path, f"summarizer=mine.py:{function}", TYPES)) == text


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("summarizer=mine.py:anything:limit=3", "has no parameter 'limit'"),
        ("compactor=mine.py:context", "it takes ctx, messages"),
    ],
)  # fmt: skip
def test_an_unknown_setting_or_parameter_is_refused_before_the_replay(tmp_path, function, says):
    assert says in refusal(tmp_path, function, TYPES)


def test_an_evaluator_must_answer_a_mapping_or_dataclass(tmp_path):
    answers = "def f(record: dict):\n    return V(True)\ndef g(record: dict):\n    return 0.5\n"
    text = f"from dataclasses import dataclass\n@dataclass\nclass V:\n    ok: bool\n{answers}"
    assert run_of(tmp_path, "evaluator=mine.py:f", text).results[0].evaluation == {"ok": True}
    failure = run_of(tmp_path, "evaluator=mine.py:g").failure
    assert failure.error == "an evaluator gives a mapping of findings, or None: Expected `object | null`, got `float`"
