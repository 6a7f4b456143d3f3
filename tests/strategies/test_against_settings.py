"""`bench run --against REV`: what is said of a revision is true of it. Settings are those of the scenario there, and what is not taken from it is
not judged.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from repository import SCENARIO, SUMMARIZERS, WORSE, bench, commit, git

RECALL = '[[gates]]\nmetric = "needed.recall"\nstrategy = "{}"\nmax_drop = 0.01\n'
CUT = "def cut(result, *, limit: int = 100_000):\n    return result.text[:limit]\n"
PROGRAM = """
import json, sys
LIMIT = 100_000
for line in sys.stdin:
    print(json.dumps({"answer": json.loads(line).get("result", {}).get("text", "")[:LIMIT]}), flush=True)
"""


@pytest.fixture(autouse=True)
def ours(repository, monkeypatch):
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    git("init", "--quiet")
    commit("start")
    return repository


def scenario(*strategies, gated="*", more=""):
    """A scenario of some strategies, as lines of TOML, with one relative gate."""
    SCENARIO.write_text(
        "\n".join(('traces = ["traces/*.jsonl"]', more, "[strategies]", *strategies, RECALL.format(gated)))
    )


def judged(code, *arguments):
    """The verdicts of a run against HEAD that ends with a code: by strategy the outcome and the sentence."""
    assert bench("run", SCENARIO, "--against", "HEAD", "-o", "x.json", *arguments) == code
    found = json.loads(Path("x.json").read_text())
    assert not any("--update-baseline" in item["sentence"] for item in found["verdicts"]), (
        "it is refused beside --against"
    )
    return {item["strategy"]: (item["outcome"], item["sentence"]) for item in found["verdicts"]}


# ---------------------------------------------------------------- settings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("mine.py:cut:limit=100000", "mine.py:cut:limit=9"),
        ("truncate:limit=100000", "truncate:limit=9"),
        ("mine.py:cut", "truncate:limit=9"),
    ],
)
def test_a_changed_setting_is_held_against_what_it_was(before, now):
    SUMMARIZERS.with_name("mine.py").write_text(CUT)
    scenario(f'mine = {{ summarizer = "{before}" }}')
    commit("before")
    assert judged(0)["mine"][0] == "pass"
    scenario(f'mine = {{ summarizer = "{now}" }}')
    outcome, said = judged(1)["mine"]
    assert (outcome, "went from 1 to 0." in said) == ("fail", True)


@pytest.mark.slow
def test_every_setting_of_a_sweep_has_its_own_and_a_new_one_has_none():
    scenario('cut = { summarizer = "truncate:limit=100000|200000" }', gated="cut")
    commit("before")
    scenario('cut = { summarizer = "truncate:limit=100000|300000" }', gated="cut")
    found = judged(3)
    assert found["cut-100000"][0] == "pass"
    assert found["cut-300000"][0] == "inconclusive"
    assert "the scenario declared no strategy of that name" in found["cut-300000"][1]


@pytest.mark.slow
def test_a_scenario_that_was_not_there_has_its_settings_of_now():
    SUMMARIZERS.with_name("mine.py").write_text(CUT)
    commit("a file")
    scenario('mine = { summarizer = "mine.py:cut:limit=100000" }')
    SCENARIO.rename(SCENARIO.with_name("new.toml"))
    SUMMARIZERS.with_name("mine.py").write_text(CUT.replace("[:limit]", "[:9]"))
    assert bench("run", SCENARIO.with_name("new.toml"), "--against", "HEAD") == 1


@pytest.mark.slow
def test_a_scenario_that_cannot_be_read_there_decides_nothing():
    SCENARIO.write_text("traces = [")
    commit("broken")
    scenario('mine = { summarizer = "truncate:limit=9" }')
    outcome, said = judged(3)["mine"]
    assert (outcome, f"scenarios/summaries.toml at {git('rev-parse', 'HEAD')[:9]}: not TOML" in said) == (
        "inconclusive",
        True,
    )


# ---------------------------------------------------------------- what is taken from the revision


@pytest.mark.slow
def test_a_program_named_by_a_relative_path_is_that_of_the_revision():
    program = SCENARIO.with_name("program.py_")
    program.write_text(PROGRAM)
    scenario(f"mine = {{ summarizer = 'command:\"{sys.executable} program.py_\"' }}")
    commit("a program")
    assert judged(0)["mine"][0] == "pass"
    program.write_text(PROGRAM.replace("100_000", "9"))
    assert judged(1)["mine"][0] == "fail"


@pytest.mark.slow
def test_a_module_beside_the_scenario_is_the_file_that_it_is():
    module = SCENARIO.with_name("own") / "cutting.py"
    module.parent.mkdir()
    module.with_name("__init__.py").write_text("")
    module.write_text(CUT)
    scenario('mine = { summarizer = "own.cutting:cut" }')
    commit("a module")
    module.write_text(WORSE.replace("summarize", "cut"))
    assert judged(1)["mine"][0] == "fail"
    commit("worse")
    module.with_name("other.py").write_text(CUT)
    scenario('mine = { summarizer = "own.other:cut" }')
    assert judged(0)["mine"][0] == "pass", "what it was is the other module"


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "code"), [("src", 1), (".venv/site-packages", 0)])
def test_a_module_of_the_repository_is_that_of_the_revision_and_an_installed_one_stays(folder, code, monkeypatch):
    place = Path(folder)
    place.mkdir(parents=True)
    name = f"cutting_{code}"
    (place / f"{name}.py").write_text(CUT)
    monkeypatch.syspath_prepend(str(place.resolve()))
    monkeypatch.delitem(sys.modules, name, raising=False)
    scenario(f'mine = {{ summarizer = "{name}:cut" }}')
    commit("a module elsewhere")
    assert judged(0)["mine"][0] == "pass"
    if code:
        (place / f"{name}.py").write_text(WORSE.replace("summarize", "cut"))
        assert judged(code)["mine"][0] == "fail"


@pytest.mark.slow
def test_a_file_that_a_setting_names_is_that_of_the_revision():
    writer = SCENARIO.with_name("mine.py")
    writer.write_text("def write(messages):\n    return 'they spoke'\n")
    scenario("mine = { compactor = 'summarize_old:max_tokens=2000,writer=\"mine.py:write\"' }")
    commit("a writer")
    assert judged(0)["mine"][0] == "pass"
    writer.write_text("def write(messages):\n    raise ValueError('no summary')\n")
    assert judged(1)["mine"][0] == "fail"


# ---------------------------------------------------------------- what lies beside a file


def importing(folder):
    """A file that imports what lies beside and below it, and one of it imports another."""
    (folder / "parts").mkdir()
    (folder / "parts/__init__.py").write_text("")
    (folder / "parts/rules.py").write_text("from limits import LIMIT\n")
    (folder / "limits.py").write_text("LIMIT = 100_000\n")
    return "def summarize(result):\n    from parts.rules import LIMIT\n    return result.text[:LIMIT]\n"


@pytest.mark.slow
@pytest.mark.parametrize("beside", [False, True])
def test_what_a_file_imported_then_is_had_though_it_imports_it_no_longer(beside):
    if beside:
        SUMMARIZERS.with_name("rules.py").write_text("LIMIT = 100_000\n")
        SUMMARIZERS.write_text("import rules\n\ndef summarize(result):\n    return result.text[: rules.LIMIT]\n")
    else:
        SUMMARIZERS.write_text(importing(SUMMARIZERS.parent))
    commit("imports")
    SUMMARIZERS.write_text(WORSE)
    assert bench("run", SCENARIO, "--against", "HEAD", "-o", "x.json") == 1
    assert not json.loads(Path("x.json").read_text())["skipped"]


# ---------------------------------------------------------------- references, and what is not the same twice


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["rec*", "recorded"])
def test_a_gate_on_a_reference_is_decided(pattern):
    scenario('mine = { summarizer = "summarizers.py:summarize" }', gated=pattern)
    commit("a gate on a reference")
    assert judged(0)["recorded"][0] == "pass"
    assert bench("run", SCENARIO, "--update-baseline") == 0
    assert bench("run", SCENARIO, "-o", "x.json") == 0
    (verdict,) = json.loads(Path("x.json").read_text())["verdicts"]
    assert (verdict["strategy"], verdict["outcome"]) == ("recorded", "pass")


@pytest.mark.slow
def test_an_unstable_earlier_self_decides_nothing_and_is_no_baseline(capsys):
    steady = SUMMARIZERS.read_text()
    SUMMARIZERS.write_text(
        "import itertools\n\ncounted = itertools.count()\n\ndef summarize(result):\n    return f'{next(counted)} {result.text}'\n"
    )
    scenario('mine = { summarizer = "summarizers.py:summarize" }')
    commit("unstable")
    assert bench("run", SCENARIO, "--update-baseline") == 2
    assert "baseline not accepted: mine is unstable" in capsys.readouterr().err
    SUMMARIZERS.write_text(steady)
    outcome, said = judged(3)["mine"]
    assert outcome == "inconclusive"
    assert said.startswith(f"mine@{git('rev-parse', 'HEAD')[:9]} is unstable: replayed again")
