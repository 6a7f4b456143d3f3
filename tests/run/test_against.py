"""A scenario held against a git revision: its file and all code of the repository are those of there, and the gates of both judge."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from orders import FACTS, ORDERS
from repository import commit, git

import bench
from bench.comparison.baseline import score_bytes, score_file_of
from bench.model.errors import BenchError

GATE = '[[gates]]\nmetric = "loss.fact_recall.shown"\nstrategy = "mine"\n'
SCENARIO = f'traces = ["orders.jsonl"]\nstrategies.mine = {{ summarizer = "mine.py:f" }}\n{GATE}max_drop = 0.05\n'
IMPORTS = "from myagent.memory import cut\n\ndef f(result):\n    return cut(result.text)\n"
LAZY = "def f(result):\n    from myagent.memory import cut\n    return cut(result.text)\n"
KEEPS = "def f(result):\n    return result.text\n"
WHOLE, CUT = "def cut(text):\n    return text\n", "def cut(text):\n    return text[:60]\n"
MEMORY, MINE, FILE = Path("src/myagent/memory.py"), Path("gates/mine.py"), Path("gates/one.toml")


def write_files(files):
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    """A project of somebody: `gates/` holds the scenario, `src/` its own package."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    git("init", "--quiet")
    package = {"src/myagent/__init__.py": "", MEMORY: WHOLE}
    write_files({"gates/orders.jsonl": ORDERS, FILE: SCENARIO, MINE: IMPORTS, **package})
    return tmp_path


def run_against(revision="HEAD", **settings):
    return bench.run_scenario(FILE, against=revision, **settings)


def outcomes(found):
    return {gate.outcome for gate in found.gates if gate.rule.metric}


def on_path(root):
    sys.path.append(str(root / "src"))


def namespace(root):
    (root / "src/myagent/__init__.py").unlink()
    on_path(root)


def from_its_file(root):
    edit = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'src'))\n"
    write_files({MINE: edit + IMPORTS})


def absolutely(root):
    write_files({MINE: f"import sys\nsys.path.insert(0, {str(root / 'src')!r})\n{LAZY}"})


def lazily(root):
    write_files({MINE: LAZY})
    on_path(root)


def linked(root):
    os.symlink("../src/myagent", "gates/myagent")


def beside_by_link(root):
    os.symlink(root / "src", root / "lib")
    sys.path.append(str(root / "lib"))


@pytest.mark.slow
@pytest.mark.parametrize("how", [on_path, namespace, from_its_file, absolutely, lazily, linked, beside_by_link])
def test_a_helper_module_is_imported_from_the_revision(how, repository):
    how(repository)
    commit("whole")
    MEMORY.write_text(CUT)
    (gate,) = (gate for gate in run_against().gates if gate.rule.metric)
    assert (gate.outcome, gate.before) == ("fail", 1.0)
    assert gate.value is not None
    assert gate.value < 0.5


def test_a_changed_file_fails_and_an_equal_one_passes(repository):
    write_files({MINE: KEEPS})
    name = f"HEAD ({commit('start')[:9]})"
    same = run_against()
    assert (outcomes(same), same.against, same.notes) == ({"pass"}, name, ())
    write_files({MINE: "def f(result):\n    return result.text[:60]\n"})
    assert outcomes(run_against(jobs=2)) == {"fail"}
    assert git("status", "--porcelain") == "M gates/mine.py"
    renamed = bench.run_scenario(FILE.rename("gates/new.toml"), against="HEAD")
    assert (outcomes(renamed), [gate.reason for gate in renamed.gates]) == ({"skipped"}, [
        "there is no baseline yet — accept the values of now with `bench run gates/new.toml --update-baseline`",
        "scenario gates/one.toml is gone — restore it: `git checkout HEAD -- gates/one.toml`",
    ])  # fmt: skip
    assert renamed.notes == ("gates/new.toml is not in HEAD, so it is judged with its own baseline",)


@pytest.mark.parametrize("place", ["'gates/limit.txt'", "__file__.replace('mine.py', 'limit.txt')"])
def test_a_data_file_is_read_from_the_revision(place):
    write_files(
        {MINE: f"def f(result):\n    return result.text[: int(open({place}).read())]\n", "gates/limit.txt": "100000"}
    )
    commit("a limit")
    write_files({"gates/limit.txt": "60"})
    assert outcomes(run_against()) == {"fail"}


def test_the_gates_of_both_revisions_are_judged():
    cut = "def f(result):\n    return result.text[:600]\n"
    write_files({MINE: cut, FILE: SCENARIO.replace("max_drop = 0.05", "min = 0.9")})
    commit("a limit")
    write_files({FILE: SCENARIO})
    found = run_against()
    limits = {(*gate.rule.settings,): gate.outcome for gate in found.gates if gate.rule.metric}
    assert limits == {("min",): "fail", ("max_drop",): "pass"}


def test_another_function_than_the_revision_named_has_no_required_baseline():
    write_files({MINE: f"{KEEPS}def g(result):\n    return result.text[:60]\n"})
    commit("whole")
    write_files({FILE: SCENARIO.replace("mine.py:f", "mine.py:g")})
    assert "fail" in {gate.outcome for gate in run_against(require_baseline=True).gates if not gate.rule.metric}


def test_neither_a_new_recording_nor_a_file_named_like_the_revision_hides_a_failure():
    write_files({MINE: KEEPS})
    commit("whole")
    bench.render(bench.run_scenario(FILE), "HEAD.json").rename("HEAD")
    write_files({"gates/easy.jsonl": ORDERS.replace("orders", "easy"), FILE: SCENARIO.replace('"orders.', '"*.')})
    write_files({MINE: KEEPS.replace("text\n", "text[:60]\n")})
    found = run_against()
    assert (outcomes(found), ["easy" in note for note in found.notes]) == ({"fail"}, [True])


@pytest.mark.parametrize("gate", ["min = 0.9", "max_drop = 0.05"])
def test_easy_recordings_do_not_dilute_a_loss_on_the_others(gate):
    scenario = SCENARIO.replace("max_drop = 0.05", gate)
    write_files({MINE: KEEPS, FILE: scenario})
    commit("whole")
    easy = ORDERS.replace(FACTS, "order W128 ships to gate G128 for 128.25 EUR")
    write_files({f"gates/easy{at}.jsonl": easy.replace('"orders"', f'"easy{at}"') for at in range(20)})
    write_files({MINE: KEEPS.replace("text\n", "text[:60]\n"), FILE: scenario.replace('"orders.', '"*.')})
    assert outcomes(run_against()) == {"fail"}


def test_code_that_is_no_longer_used_is_reported(repository):
    on_path(repository)
    commit("whole")
    write_files({MINE: f"{WHOLE}\ndef f(result):\n    return cut(result.text)\n", MEMORY: CUT})
    found = run_against()
    assert outcomes(found) == {"pass"}
    assert [note.partition(": ")[2] for note in found.notes] == ["src/myagent/memory.py"]


def test_a_revision_that_cannot_be_compared_with_gives_a_reason():
    write_files({MINE: KEEPS})
    commit("start")
    for revision in ("no-such-branch", "--help", "HEAD~9"):
        with pytest.raises(BenchError, match="no such revision"):
            run_against(revision)


@pytest.mark.parametrize("against", ["HEAD", None])
@pytest.mark.parametrize("place", ["new.toml", "one.toml/easy.toml", "one.toml/deep/easy.toml"])
def test_a_scenario_in_place_of_a_judged_one_does_not_hide_it(place, against):
    write_files({MINE: KEEPS})
    write_files({"gates/one.baseline.json": score_bytes(score_file_of(bench.run_scenario(FILE))).decode()})
    commit("start")
    FILE.unlink()
    write_files({f"gates/{place}": 'traces = ["/"]\n[strategies]\nkeep_all = {}\n'.replace("/", os.path.relpath("gates/orders.jsonl", f"gates/{place}/.."))})  # fmt: skip
    found = bench.run_scenario(f"gates/{place}", against=against, require_baseline=True)
    reasons = [gate.reason for gate in found.gates if gate.outcome == "fail"]
    assert any("one.baseline.json" in reason or "one.toml is gone" in reason for reason in reasons), reasons


def test_a_strategy_that_is_new_or_was_broken_leaves_its_gate_undecided():
    write_files({MINE: "def g(result):\n    return result.text\n"})
    commit("another name")
    write_files({MINE: KEEPS})
    assert outcomes(run_against()) == {"undecided"}
