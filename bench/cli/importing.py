"""`bench import`: converts traces of other tools into one native file, and prints what was read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files.writing import require_place
from ..model.errors import BenchError
from .saying import say

if TYPE_CHECKING:
    from ..model import Trace

ENDINGS = (".jsonl", ".jsonl.gz")


@click.command(name="import")
@click.argument("sources", metavar="[FORMAT:]SRC…", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The file to write: .jsonl or .jsonl.gz.")  # fmt: skip
@click.option(
    "--redact-personal",
    is_flag=True,
    help="Remove e-mail addresses and user names in home paths too.",
)
def import_(sources: tuple[str, ...], output: Path, redact_personal: bool) -> None:
    """Convert recordings into native traces, without their secrets."""
    from ..traces import TraceSource
    from ..traces.formats.native import write_traces
    from ..traces.redaction import Redactor
    from ..traces.summary import ReadSummary, left_out_lines

    _require_free(output, sources)
    source, total = TraceSource(sources), ReadSummary()
    redactor = Redactor(emails=redact_personal, homes=redact_personal)

    def converted() -> Iterator[Trace]:
        """Yield each trace without secrets."""
        for trace in source:
            clean = redactor.trace(trace)
            total.add(clean)
            yield clean

    write_traces(converted(), output)
    total.skip(source.skipped)
    for line in (*left_out_lines(source.skipped), total.line()):
        say(line)
    say(f"wrote {output}")


def _require_free(output: Path, sources: tuple[str, ...]) -> None:
    """Raise BenchError for an output that is not a native file, or that is one of the inputs."""
    from ..traces.paths import given_files

    if not output.name.endswith(ENDINGS) or output.is_dir():
        raise BenchError(f"{output}: give a file name that ends in {', '.join(ENDINGS)}")
    require_place([output])
    read = {file.path.resolve() for text in sources for file in given_files(text, Path()).files}
    if output.resolve() in read:
        raise BenchError(
            f"{output}: is an input, and writing to it would destroy it — give another file"
        )
