"""`bench import`: traces of other tools into native files, with a line on what each holds."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.errors import BenchError
from .options import require_apart
from .saying import say

if TYPE_CHECKING:
    from ..model import Trace

ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


@click.command(name="import")
@click.argument("sources", metavar="[FORMAT:]SRC…", nargs=-1, required=True)
@click.option("-o", "--output", "output", required=True, type=click.Path(path_type=Path), metavar="FILE|DIR",
              help="One file for all (.jsonl, .jsonl.gz, .jsonl.zst), or a folder with a file for each trace.")  # fmt: skip
@click.option(
    "--no-redact",
    is_flag=True,
    help="Keep secrets (keys, tokens, passwords in URLs, cookies); they are removed otherwise.",
)
@click.option(
    "--redact-personal",
    is_flag=True,
    help="Remove e-mail addresses and user names in home paths too.",
)
def import_(sources: tuple[str, ...], output: Path, no_redact: bool, redact_personal: bool) -> None:
    """Convert recordings into native traces, without their secrets."""
    from ..model.errors import visible
    from ..traces import TraceSource, files_of
    from ..traces.redaction import Redactor
    from ..traces.summary import ReadSummary, summary_of

    one_file = output.name.endswith(ENDINGS)
    _require_place(output, one_file)
    if no_redact and redact_personal:
        what = "--no-redact keeps everything, --redact-personal removes more"
        raise BenchError(f"{what} — give one of them")
    source, total = TraceSource(sources), ReadSummary()
    redactor = None if no_redact else Redactor(emails=redact_personal, homes=redact_personal)
    read = [(file, "a file that is read") for text in sources for file in files_of(text, Path())[0]]

    def converted() -> Iterator[Trace]:
        nonlocal total
        for trace in source:
            clean = trace if redactor is None else redactor.trace(trace)
            summary = summary_of([clean])
            total += summary
            say(f"{visible(trace.id)} ({trace.source.format}): {summary.line()}")
            yield clean

    (_write_file if one_file else _write_folder)(converted(), output, read)
    for file, reason in source.skipped:
        say(f"left out {visible(file)}: {visible(reason)}")
    if total.traces > 1:
        say((total + summary_of([], source.skipped)).line())
    if no_redact:
        say("secrets were kept, as --no-redact says")
    say(f"wrote {output}")


def _write_file(traces: Iterator[Trace], output: Path, read: Sequence[tuple[Path, str]]) -> None:
    """Write traces into one file, which is none of those that are read."""
    from ..traces.formats.native import write_traces

    require_apart([output], read)
    write_traces(traces, output)


def _write_folder(traces: Iterator[Trace], output: Path, read: Sequence[tuple[Path, str]]) -> None:
    """Write each trace into a file of its own in a folder from which nothing is read."""
    from ..files.writing import folder_in_place
    from ..traces.documents import Document
    from ..traces.formats.native import write_traces
    from ..traces.lines import encode_trace

    if any(os.path.realpath(file.parent) == os.path.realpath(output) for file, _ in read):
        what = "holds files that are read, which would count twice from then on"
        raise BenchError(f"{output}: {what} — give another folder")
    taken: set[str] = set()
    with folder_in_place(output) as stage:
        for trace in traces:
            name = f"{_own_name(_file_name(trace.id), taken)}.jsonl.gz"
            require_apart([output / name], read)
            if not (output / name).exists():
                write_traces([trace], stage / name)
            elif Document(output / name).data != encode_trace(trace):
                what = "is there already, and not as this import would write it"
                raise BenchError(f"{output / name}: {what} — give another folder")


def _require_place(output: Path, one_file: bool) -> None:
    if not one_file and (output.suffix or output.is_file()):
        raise BenchError(
            f"{output}: no native file ends like this — give a folder, or a name in {', '.join(ENDINGS)}"
        )
    if one_file and output.is_dir():
        raise BenchError(
            f"{output}: is a folder — give a file name, or a folder whose name has no ending"
        )


def _file_name(run: str) -> str:
    """A run's id as a path below the output folder.

    What leads out of that folder, is hidden, or is refused by a file system is replaced or left
    out.

    >>> _file_name("runs/r2"), _file_name("../../etc/x"), _file_name("a:b#1"), _file_name(".."), _file_name(".git/x")
    ('runs/r2', 'etc/x', 'a_b_1', 'trace', 'git/x')
    """
    parts = [
        "".join(char if char.isalnum() or char in "._- " else "_" for char in part).lstrip(". ")[
            :120
        ]
        for part in run.split("/")
    ]
    return "/".join(filter(None, parts)) or "trace"


def _own_name(name: str, taken: set[str]) -> str:
    """The name with a number behind it where an earlier trace has it already.

    Names that differ only by capitals, or by how an accent is written, count as the same.

    >>> taken = set()
    >>> [_own_name(name, taken) for name in ("a_b", "A_b", "a_b", "a_b-2")]
    ['a_b', 'A_b-2', 'a_b-3', 'a_b-2-2']
    """
    for number in count(1):
        free = name if number == 1 else f"{name}-{number}"
        alike = unicodedata.normalize("NFC", free).casefold()
        if alike not in taken:
            break
    taken.add(alike)
    return free
