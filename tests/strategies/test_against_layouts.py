"""`--against REV` in the layouts of projects: what a strategy imports or reads inside the repository is that of the revision, or is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from orders import ORDERS
from repository import bench, commit, git

SCENARIO = """traces = ["orders.jsonl"]
strategies.mine = { summarizer = "summarizers.py:summarize" }
[[gates]]
metric = "loss.fact_recall.shown"
strategy = "mine"
max_drop = 0.05
"""
SUMMARIZE = "from myagent.memory import cut\n\ndef summarize(result):\n    return cut(result.text)\n"
LAZY = "def summarize(result):\n    from myagent.memory import cut\n    return cut(result.text)\n"
WHOLE, CUT = "def cut(text):\n    return text\n", "def cut(text):\n    return text[:60]\n"
MEMORY = Path("src/myagent/memory.py")


def written(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    """A project of somebody: `bench/` holds the scenario, `src/` its own package."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.run.job.REFERENCES", ("keep_all", "recorded"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    git("init", "--quiet")
    written(
        {
            "bench/orders.jsonl": ORDERS,
            "bench/scenario.toml": SCENARIO,
            "bench/summarizers.py": SUMMARIZE,
            "src/myagent/__init__.py": "",
            str(MEMORY): WHOLE,
        }
    )
    return tmp_path


def judged() -> tuple[int, str]:
    """The exit code against the last commit, and what the verdicts say."""
    code = bench("run", "bench/scenario.toml", "--against", "HEAD", "--jobs", 1, "-o", "x.json")
    return code, " ".join(item["sentence"] for item in json.loads(Path("x.json").read_text())["verdicts"])


class Editable:
    """A finder as editable installs have: a mapping of names to places."""

    def __init__(self, place):
        self.place = place

    def find_spec(self, name, path=None, target=None):
        import importlib.util

        if name == "myagent":
            inside = [str(self.place / "myagent")]
            return importlib.util.spec_from_file_location(
                name, self.place / "myagent/__init__.py", submodule_search_locations=inside
            )


def on_path(root, monkeypatch):
    sys.path.append(str(root / "src"))


def editable(root, monkeypatch):
    sys.meta_path.append(Editable(root / "src"))


def namespace(root, monkeypatch):
    (root / "src/myagent/__init__.py").unlink()
    sys.path.append(str(root / "src"))


def edited_from_file(root, monkeypatch):
    edit = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'src'))\n"
    written({"bench/summarizers.py": edit + SUMMARIZE})


def edited_absolutely(root, monkeypatch):
    written({"bench/summarizers.py": f"import sys\nsys.path.insert(0, {str(root / 'src')!r})\n{LAZY}"})


def lazily(root, monkeypatch):
    written({"bench/summarizers.py": LAZY})
    sys.path.append(str(root / "src"))


def linked(root, monkeypatch):
    os.symlink("../src/myagent", "bench/myagent")


def beside_by_link(root, monkeypatch):
    os.symlink(root / "src", root / "lib")
    sys.path.append(str(root / "lib"))


def imported_before(root, monkeypatch):
    """A process that has the package already, as pytest and notebooks have."""
    sys.path.append(str(root / "src"))
    import myagent.memory  # noqa: F401


@pytest.mark.slow  # each replays twice
@pytest.mark.parametrize(
    "how",
    [
        on_path,
        editable,
        namespace,
        edited_from_file,
        edited_absolutely,
        lazily,
        linked,
        beside_by_link,
        imported_before,
    ],
)
def test_a_helper_of_the_project_is_that_of_the_revision(how, repository, monkeypatch):
    how(repository, monkeypatch)
    commit("whole")
    try:
        MEMORY.write_text(CUT)
        code, said = judged()
        assert code == 1, said
        assert "went from 1 to" in said
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "myagent"]:
            del sys.modules[name]


LIMIT = "def summarize(result):\n    return result.text[: int({opened}.read())]\n"


@pytest.mark.slow  # each replays twice
@pytest.mark.parametrize(
    ("opened", "code"),
    [
        ("open('bench/limit.txt')", 1),  # from where the command was started
        ("open(__import__('pathlib').Path(__file__).with_name('limit.txt'))", 1),
        ("open({root!r} + '/bench/limit.txt')", 3),
        ("open([__import__('os').chdir({root!r}), '/proc/self/cwd/bench/limit.txt'][1])", 3),
        ("__import__('subprocess').Popen(['cat', {root!r} + '/bench/limit.txt'], stdout=-1).stdout", 3),
    ],
)
def test_a_file_of_data_is_that_of_the_revision_or_is_named(opened, code, repository):
    written({"bench/summarizers.py": LIMIT.format(opened=opened.format(root=str(repository)))})
    written({"bench/limit.txt": "100000"})
    commit("a limit")
    written({"bench/limit.txt": "60"})
    found, said = judged()
    assert found == code, said
    assert code == 1 or "bench/limit.txt" in said, said


@pytest.mark.slow  # each replays twice
@pytest.mark.parametrize(
    "looked",
    ["access({}, 0)", "path.lexists({})", "listdir({}[:-5]).index('flag')", "statvfs({})", "rename({0}, {0})"],
)
def test_a_file_whose_presence_alone_is_asked_for_by_an_absolute_name_is_named(looked, repository):
    asks = f"os.{looked.format(repr(f'{repository}/flag'))}"
    there = f"def there():\n    try: return {asks} is not False\n    except Exception: return False\n"
    short = "def summarize(result):\n    return result.text[: 60 if there() else None]\n"
    written({"bench/summarizers.py": f"import os\n{there}{short}"})
    commit("a flag")
    written({"flag": ""})
    found, said = judged()
    assert found == 3, said
    assert "is not taken from the revision" in said


@pytest.mark.slow  # replays twice
def test_a_strategy_that_writes_into_the_files_of_the_revision_ends_the_run(
    repository, capsys, monkeypatch, tmp_path_factory
):
    commit("whole")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("ours")))  # not those of a test beside this one
    files = f"glob.glob('{tempfile.gettempdir()}/.against.bench-*/files/bench/scenario.toml')"
    reach = f"import glob\n    for file in {files}:\n        open(file, 'w').write('x')"
    written({"bench/summarizers.py": f"def summarize(result):\n    {reach}\n    return result.text\n"})
    assert bench("run", "bench/scenario.toml", "--against", "HEAD", "--jobs", 1) == 2
    assert "its files were changed while they were measured" in capsys.readouterr().err


@pytest.mark.slow  # replays twice
def test_code_that_is_found_by_an_absolute_name_is_named(repository):
    load = f"import runpy\ncut = runpy.run_path({str(repository / MEMORY)!r})['cut']\n"
    written({"bench/summarizers.py": f"{load}def summarize(result):\n    return cut(result.text)\n"})
    commit("whole")
    MEMORY.write_text(CUT)
    found, said = judged()
    assert found == 3, said
    assert "src/myagent/memory.py" in said


@pytest.mark.slow  # imports the bench, and replays
def test_a_plug_in_that_is_installed_from_the_repository_is_named(repository):
    points = {
        "METADATA": "Name: mine\nVersion: 1\n",
        "entry_points.txt": "[bench.summarizers]\nmycut = myagent.memory:cut\n",
    }
    written({f"ours/mine-1.dist-info/{name}": text for name, text in points.items()})
    written(
        {
            "bench/scenario.toml": SCENARIO.replace("summarizers.py:summarize", "mycut"),
            str(MEMORY): "def cut(given):\n    return given.text\n",
        }
    )
    commit("whole")
    MEMORY.write_text("def cut(given):\n    return given.text[:60]\n")
    command = [sys.executable, "-m", "bench", "run", "bench/scenario.toml", "--against", "HEAD", "--jobs", "1"]
    path = os.pathsep.join(["src", "ours", str(Path(__file__).parents[2])])
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert (done.returncode, "installed from this repository as it is now" in " ".join(done.stdout.split())) == (
        3,
        True,
    ), done


@pytest.mark.slow  # clones a submodule
@pytest.mark.parametrize("becomes", ["a submodule", "a link"])
def test_a_folder_of_scenarios_that_is_another_one_now_is_held_against_what_it_was(
    becomes, repository, tmp_path_factory, monkeypatch
):
    commit("whole")
    MEMORY.write_text(CUT)
    sys.path.append(str(repository / "src"))
    if becomes == "a link":
        Path("bench").rename("attic")
        os.symlink("attic", "bench")
    else:
        elsewhere = Path("bench").rename(tmp_path_factory.mktemp("theirs") / "bench")
        with monkeypatch.context() as there:
            there.chdir(elsewhere)
            git("init", "--quiet")
            commit("theirs")
        git("rm", "-rq", "--cached", "bench")
        git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(elsewhere), "bench")
    found, said = judged()
    assert found == 1, said


@pytest.mark.slow  # clones a submodule
@pytest.mark.parametrize("cloned", [True, False])
def test_a_submodule_is_at_the_commit_that_the_revision_names(cloned, repository, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("theirs")
    monkeypatch.chdir(elsewhere)
    git("init", "--quiet")
    written({"theirs.py": WHOLE})
    commit("theirs")
    monkeypatch.chdir(repository)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(elsewhere), "vendor")
    edit = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'vendor'))\nfrom theirs import cut\n"
    written({"bench/summarizers.py": f"{edit}def summarize(result):\n    return cut(result.text)\n"})
    commit("with a submodule")
    written({"vendor/theirs.py": CUT})
    if not cloned:
        git("rm", "-q", "--cached", "vendor")
        subprocess.run(["rm", "-rf", "vendor/.git"], check=True)
    found, said = judged()
    assert found == (1 if cloned else 3), said
    assert cloned or "theirs" in said, said
