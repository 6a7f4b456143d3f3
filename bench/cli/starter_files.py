"""`bench init`: a scenario about your recordings, your own strategy, a baseline, a workflow."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import __version__
from ..files.git import top_of
from ..files.writing import refused, require_place, write_together
from ..model.errors import BenchError
from .saying import say

if TYPE_CHECKING:
    from ..model.compared import Compared

DISTRIBUTION = "agent-memory-bench"
SCENARIO = "scenarios/summaries.toml"
BASELINE = "scenarios/summaries.baseline.json"
OWN = "scenarios/summarizers.py"
_STARTER = Path(__file__).parents[1] / "starter"
_FILES = {SCENARIO: "summaries.toml.in", OWN: "summarizers.py"}


@click.command()
@click.argument("traces", nargs=-1, required=True, metavar="[FORMAT:]TRACES...")
def init(traces: tuple[str, ...]) -> None:
    """Set up CI in this folder: a scenario with gates, its baseline, a workflow.

    The workflow is written to the top folder of the repository, where GitHub looks for it. The
    scenario replays your recordings, which must be in this repository, with a function that you
    replace by your own. It is run once, for the baseline.
    """
    from ..comparison.baseline import score_bytes, score_file_of
    from ..traces.paths import require_inside

    why = "copy it inside: the workflow checks out that repository alone"
    require_inside(traces, Path(), why, future=True)
    contents = starter(traces, Path(SCENARIO).parent) | workflow()
    require_free(contents)
    require_place(map(Path, (*contents, BASELINE)))
    contents[BASELINE] = score_bytes(score_file_of(_starter_comparison(traces)))
    require_free(contents)
    write_together({Path(name): data for name, data in contents.items()})
    for name in contents:
        say(f"wrote {name}")
    say(f"the workflow installs {requirement()}: change that line if CI cannot install this")
    say(f"next: put your own function into {OWN}, commit these files, and run")
    say(f"  bench run {SCENARIO}")


def _starter_comparison(traces: Sequence[str]) -> Compared:
    """The comparison of the starter's scenario, run in a temporary folder."""
    from .. import run_scenario
    from ..run.cache import user_cache

    try:
        folder = tempfile.TemporaryDirectory(dir=".", prefix=".bench-")
    except OSError as error:
        raise refused(Path(SCENARIO), error) from None
    with folder as stage:
        for name, data in starter(traces, Path(stage)).items():
            Path(stage, Path(name).name).write_bytes(data)
        scenario = Path(stage, Path(SCENARIO).name)
        try:
            compared = run_scenario(scenario, accepting=True, cache=user_cache())
        except BenchError as error:  # nobody knows the stage
            raise BenchError(str(error).replace(str(scenario), SCENARIO)) from None
        for file in compared.damaged:  # CI would not decide with it
            raise BenchError(f"{file.path}: {file.reason}")
        return compared


def starter(traces: Sequence[str], folder: Path) -> dict[str, bytes]:
    """The contents of the starter's scenario and code by path; the scenario names recordings
    relative to `folder`.
    """
    paths = []
    for text in traces:
        form, colon, path = text.rpartition(":")
        paths.append(f"{form}{colon}{Path(os.path.relpath(path, folder)).as_posix()}")
    files: dict[str, bytes] = {}
    for name, source in _FILES.items():
        text = (_STARTER / source).read_text("utf-8")
        files[name] = text.replace("@TRACES@", json.dumps(paths)).encode()
    return files


def workflow() -> dict[str, bytes]:
    """The contents of the workflow by path; that of a folder inside its repository has its name."""
    here = Path.cwd().resolve()
    top = (top_of(here) or here).resolve()
    folders = here.relative_to(top).parts
    name = os.path.relpath(top / f".github/workflows/{'-'.join(['bench', *folders])}.yml")
    text = (_STARTER / "workflow.yml").read_text("utf-8").replace("@REQUIREMENT@", requirement())
    inside = shlex.quote("/".join(folders)) + "/" if folders else ""
    return {name: text.replace("scenarios/", f"{inside}scenarios/").encode()}


def require_free(contents: Mapping[str, bytes]) -> None:
    """Raise BenchError if another file exists at one of the paths."""
    for name, data in contents.items():
        place = Path(name)
        if os.path.lexists(place) and not (place.is_file() and place.read_bytes() == data):
            raise BenchError(
                f"{place}: exists already — move it away, or run init in another folder"
            )


def requirement() -> str:
    """The requirement by which pip installs this bench: its git commit, checkout or version."""
    import importlib.metadata

    try:
        direct_url = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        direct_url = None
    origin = json.loads(direct_url) if direct_url else {}
    if vcs := origin.get("vcs_info"):
        return f"{DISTRIBUTION} @ {vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"
    checkout = _STARTER.parents[1]
    is_checkout = (checkout / "pyproject.toml").is_file()
    return str(checkout) if is_checkout else f"{DISTRIBUTION}=={__version__}"
