"""`bench init`: a scenario, recordings, a strategy of your own, a baseline, a workflow."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import __version__
from ..files.git import git
from ..files.writing import require_place, write_together
from ..model.errors import BenchError
from .saying import say, warn

if TYPE_CHECKING:
    from ..model.compared import Compared

DISTRIBUTION = "agent-memory-bench"
SCENARIO = "scenarios/summaries.toml"
ADVISED = "scenarios/advised.toml"
OWN = "scenarios/summarizers.py"
WORKFLOW = ".github/workflows/bench.yml"
_STARTER = Path(__file__).parents[1] / "starter"
_FILES = {
    SCENARIO: "summaries.toml",
    OWN: "summarizers.py",
    "scenarios/traces/survey.jsonl": "survey.jsonl",
    "scenarios/traces/construction.jsonl": "construction.jsonl",
    WORKFLOW: "workflow.yml",
}


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--traces", "traces", multiple=True, metavar="[FORMAT:]PATH",
              help="Your own recordings: the scenario is about them and what `bench run` advises on them.")  # fmt: skip
def init(folder: Path, traces: tuple[str, ...]) -> None:
    """Set up CI in DIR: a scenario with gates, its baseline, a workflow.

    With --traces the scenario is about your recordings, and holds the strategy that is advised for
    them; else it has two recordings and a strategy as an example. It is run once.
    """
    from ..comparison.baseline import score_bytes, score_file_of
    from ..traces.paths import require_inside

    if folder.exists() and not folder.is_dir():
        raise BenchError(f"{folder}: is a file — give a folder")
    absolute = [_placed(text, os.path.abspath) for text in traces]
    hint = "copy it inside: the workflow checks out that repository alone"
    require_inside(absolute, _there(folder), hint)
    scenario = ADVISED if traces else SCENARIO
    baseline = scenario.removesuffix(".toml") + ".baseline.json"
    contents = advised(traces, folder) if traces else starter()
    require_free(folder, contents)
    require_place(folder / name for name in (*contents, baseline))
    with _stage(folder) as stage:
        write_together({stage / name: data for name, data in contents.items()})
        compared = _accepted(stage / scenario, absolute)
    scores = score_bytes(score_file_of(compared))
    require_free(folder, {baseline: scores})
    write_together({folder / name: data for name, data in {**contents, baseline: scores}.items()})
    for name in (*contents, baseline):
        say(f"wrote {folder / name}")
    say(f"the workflow installs {requirement()}: change that line if CI takes bench from elsewhere")
    if traces:
        say(compared.advice.sentence)
    say(f"next: put your own function into {folder / OWN}, commit these files, and run")
    say(f"  bench run {folder / scenario}")


def _accepted(scenario: Path, traces: Sequence[str]) -> Compared:
    """A scenario that is run now, on the traces that are given, else on its own; its gates hold."""
    import msgspec

    from .. import run_scenario
    from ..run.kept import kept_here
    from ..run.scenario import read_scenario

    plan = read_scenario(scenario)
    if traces:  # the scenario is not yet where its paths start
        plan = msgspec.structs.replace(plan, traces=tuple(traces))
    return run_scenario(plan, accepting=True, kept=kept_here(warn))


def advised(traces: Sequence[str], folder: Path) -> dict[str, bytes]:
    """The files of a scenario about somebody's recordings, with the policy that is best for them.

    Raises BenchError where no policy qualifies: there is nothing to keep so in CI.
    """
    from ..plugins.spec import split_top
    from ..strategies.portfolio import PORTFOLIO

    named = _best_policy(traces)
    paths = [
        _placed(text, lambda path: Path(os.path.relpath(path, folder / "scenarios")).as_posix())
        for text in traces
    ]
    slots = (part.partition("=") for part in split_top(PORTFOLIO[named], "+"))
    filled = {
        "@TITLE@": f"Is {named} still worth it on our runs?",
        "@TRACES@": json.dumps(paths),
        "@NAME@": named,
        "@SLOTS@": "\n".join(f"{slot} = {json.dumps(spec)}" for slot, _, spec in slots),
    }
    text = (_STARTER / "advised.toml").read_text(encoding="utf-8")
    for mark, value in filled.items():
        text = text.replace(mark, value)
    return {
        ADVISED: text.encode(),
        **{name: data for name, data in starter().items() if name in (OWN, WORKFLOW)},
    }


def _best_policy(traces: Sequence[str]) -> str:
    """The best policy of the portfolio on some recordings. Raises BenchError where none qualifies."""
    from .. import compare
    from ..run.kept import kept_here
    from ..strategies.portfolio import PORTFOLIO

    advice = compare(traces, jobs=os.cpu_count() or 1, kept=kept_here(warn)).advice
    for item in advice.ranked:
        if item.verdict in ("ship", "not certain") and item.strategy in PORTFOLIO:
            return item.strategy
    what = f"{traces[0]}: {advice.sentence.rstrip('.')}"
    raise BenchError(f"{what} — without --traces an example is written, which you can change")


def _placed(text: str, place: Callable[[str], str]) -> str:
    """A path of traces as it is found from elsewhere, its format in front."""
    head, colon, path = text.rpartition(":")
    return f"{head}{colon}{place(path)}"


def starter() -> dict[str, bytes]:
    """The starter's files by their paths below a folder. The baseline is left to a run."""
    contents = {name: (_STARTER / source).read_bytes() for name, source in _FILES.items()}
    return {
        **contents,
        WORKFLOW: contents[WORKFLOW].replace(b"@REQUIREMENT@", requirement().encode()),
    }


def require_free(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Raise BenchError where another file is there already."""
    for name, data in contents.items():
        place = folder / name
        if os.path.lexists(place) and not (place.is_file() and place.read_bytes() == data):
            raise BenchError(f"{place}: is there already — give another folder, or move it away")


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
    checkout = Path(__file__).parents[2]
    asked = (("remote", "get-url", "origin"), ("rev-parse", "HEAD"))
    remote, commit = (
        (git(checkout, *arguments) or b"").decode("utf-8", "replace").strip() for arguments in asked
    )
    if commit and remote.startswith(("https://", "ssh://")):
        return f"{DISTRIBUTION} @ git+{remote}@{commit}"
    return (
        str(checkout)
        if (checkout / "pyproject.toml").is_file()
        else f"{DISTRIBUTION}=={__version__}"
    )


@contextlib.contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A temporary folder near a folder that is to be. Raises BenchError where it cannot be made."""
    try:
        temporary = tempfile.TemporaryDirectory(dir=_there(folder), prefix=".bench-")
    except OSError as error:
        what = f"{folder}: cannot be written: {error.strerror or error}"
        raise BenchError(f"{what} — check the folder") from None
    with temporary as stage:
        try:
            yield Path(stage)
        except BenchError as error:  # nobody knows the stage
            raise BenchError(str(error).replace(stage, str(folder))) from None


def _there(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return place
