"""Text from outside that speaks to terminals and to logs: no command prints it as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from bench.cli import main
from bench.model.errors import sayable

ROOT = Path(__file__).parents[2]
RAW = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]|^\s*::|##\w*\[",
    re.MULTILINE,
)
"""Characters that must not come out: control and direction characters, invisible ones, commands to a CI system."""

HOSTILE = {
    "set-output": "x\n::set-output name=a::b\n",
    "add-mask": "##[add-mask]secret",
    "azure": "\n##vso[task.setvariable variable=x]y",
    "colour": "\x1b[31mred\x1b[0m",
    "link": "\x1b]8;;http://x.invalid\x1b\\click\x1b]8;;\x1b\\",
    "title": "\x1b]0;owned\x07\x9b2J",
    "bidi": "a\u202egnp.exe\u2066\u2069",
    "invisible": "a\u200bb\ufeff\u2028::warning::c",
    "return": "ok\r::error::overwritten\x08\x08",
    "surrogate": "a\ud800b",
}  # fmt: skip


def trace_file(folder: Path, text: str) -> Path:
    steps = [
        {"kind": "system", "index": 0, "content": text},
        {"kind": "user", "index": 1, "content": f"go {text}"},
        {"kind": "model", "index": 2, "content": f"run_7 {text}", "tool_calls": [{"id": text, "name": text, "arguments": {text: text}}]},
        {"kind": "result", "index": 3, "call_id": text, "function": text, "seen": f"run_8 471 {text}", "error": text},
        {"kind": "model", "index": 4, "content": f"471 of run_8 {text}"},
    ]  # fmt: skip
    header = {
        "bench_trace": 1,
        "id": text,
        "source": {"format": text, "path": text},
        "labels": {text: text},
        "left_out": {text: 1},
    }
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *steps]))
    return path


def quoted(text: str) -> str:
    """A text as a string of TOML, which has no lone surrogates."""
    return json.dumps(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")).replace("\x7f", "\\u007f")


def scenario_file(folder: Path, text: str, trace: Path) -> Path:
    path = folder / "hostile.toml"
    said = quoted(text)
    path.write_text(
        f'title = {said}\ntraces = ["{trace.name}"]\n[strategies.{said}]\ncompactor = "mask_observations"\n'
        f'[[gates]]\nmetric = "needed.recall"\nmin = 1.0\n[[gates]]\nmetric = "needed.recall"\nmax_drop = 0\n'
        f'[[probes]]\nquestion = {said}\nexpected = {said}\n',
        encoding="utf-8",
    )  # fmt: skip
    return path


def run(*arguments: str) -> str:
    """All that the command line prints, its errors too, as a process would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BENCH_DEBUG", raising=False)
        done = CliRunner().invoke(_in_process, list(arguments))
        patch.delenv("BENCH_DEBUG", raising=False)
    return done.output


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []})
@click.pass_context
def _in_process(context: click.Context) -> None:
    main(context.args)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "in_actions"), [(name, bool(at % 2)) for at, name in enumerate(HOSTILE)])
def test_no_command_prints_control_characters_of_traces(tmp_path, monkeypatch, name, in_actions):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true" if in_actions else "")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    text = HOSTILE[name]
    trace = trace_file(tmp_path, text)
    scenario = scenario_file(tmp_path, text, trace)
    argument = text.replace("\x00", "").replace("\ud800", "\udcff")
    printed = {
        "show": run("show", str(trace)),
        "show step": run("show", str(trace), "--step", "3"),
        "show no step": run("show", str(trace), "--step", "99"),
        "show case": run("show", str(trace), "--run", argument),
        "show missing": run("show", argument),
        "import": run("import", str(trace), "-o", "out.jsonl"),
        "import to": run("import", str(trace), "-o", f"{argument}.txt"),
        "run": run("run", str(scenario), "--jobs", "1", "-o", "a.json"),
        "accept": run("run", str(scenario), "--jobs", "1", "--update-baseline"),
        "accepted": run("run", str(scenario), "--jobs", "1", "--update-baseline", "-o", "b.json", "--debug"),
        "against": run("run", str(scenario), "--jobs", "1", "--against", "a.json"),
        "strategy": run("run", str(trace), "--strategy", argument),
        "no scenario": run("run", argument, "--debug"),
        "audit": run("audit", str(trace), "-o", "audit.json", "-o", "audit.md"),
        "list": run("list", argument),
        "option": run("run", f"--{argument}"),
        "limit": run("show", str(trace), "--limit", argument),
        "summarizer": run("run", str(trace), "--strategy", f"a=summarizer={argument}"),
    }  # fmt: skip
    for command, said in printed.items():
        lines = said.split("\n")
        if in_actions:  # commands of our own, and what they quote
            lines = [line for line in lines if not re.match(r"::(error|warning)", line)]
        found = RAW.search("\n".join(lines))
        assert not found, f"{command}: {lines[said[: found.start()].count(chr(10))]!r}"
        assert "defect in bench" not in said, f"{command}: {said}"


@pytest.mark.parametrize("name", HOSTILE)
def test_printable_text_has_no_control_characters(name):
    assert not RAW.search(sayable(HOSTILE[name]))
    assert sayable(sayable(HOSTILE[name])) == sayable(HOSTILE[name])


def test_harmless_text_is_printed_unchanged():
    text = "a :: b, #[x] and ## [y]\n  été 数据 🙂\ta::b"
    assert sayable(text) == text


def test_only_the_output_module_of_the_command_line_prints():
    for file in (ROOT / "bench").rglob("*.py"):
        code = re.sub(r'""".*?"""', "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        found = re.findall(r"(?<![\w.])print\(|click\.s?echo\(|sys\.std(?:out|err)\.write\(", code)
        allowed = {"saying.py": 4, "errors.py": 1, "worker.py": 1}
        assert len(found) <= allowed.get(file.name, 0), f"{file}: print with bench.cli.saying"
