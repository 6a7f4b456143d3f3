"""`bench import`: traces of other tools into native files, with a line on what each holds."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.errors import BenchError
from .options import limited, require_apart
from .saying import say

if TYPE_CHECKING:
    from ..model import Trace
    from ..recording.found import Found

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
@click.option("--redact-emails", is_flag=True, help="Remove e-mail addresses too.")
@click.option("--redact-homes", is_flag=True, help="Remove the user's name in home paths too.")
@click.option(
    "--shape-only",
    is_flag=True,
    help="Write no text: stand-ins for words and numbers, so that a trace can be shared and measures nearly the same.",
)
@click.option("--replace", is_flag=True, help="Write over what earlier imports left in the folder.")
@click.option("--strict", is_flag=True, help="A damaged file in a folder is an error, not left out.")
@limited
def import_(
    sources: tuple[str, ...],
    output: Path,
    no_redact: bool,
    redact_emails: bool,
    redact_homes: bool,
    shape_only: bool,
    replace: bool,
    strict: bool,
    call_s: float,
    memory_mib: int,
) -> None:
    """Convert the runs of files, folders or patterns into native traces, and say what was found in each and what was left out."""
    from ..files.writing import folder_in_place
    from ..plugins.apart import Limits
    from ..recording.found import Found
    from ..text.wording import counted, visible
    from ..traces import TraceSource, files_of
    from ..traces.formats.native import write_traces

    one_file = output.name.endswith(ENDINGS)
    _require_place(output, one_file)
    if shape_only and (no_redact or redact_emails or redact_homes):
        what = "--shape-only keeps no text, so there is nothing to keep or to remove in it"
        raise BenchError(f"{what} — leave out the other option")
    if no_redact and (redact_emails or redact_homes):
        what = "--no-redact keeps everything, --redact-emails and --redact-homes remove more"
        raise BenchError(f"{what} — give one of them")
    source, totals = TraceSource(sources, strict=strict, limits=Limits(call_s, memory_mib)), list[Found]()
    made = map(_changing(no_redact, redact_emails, redact_homes, shape_only), source)
    read = [(file, "a file that is read") for text in sources for file in files_of(text, Path())[0]]
    if one_file:
        require_apart([output], read)
        write_traces(_told(made, totals), output)
    else:
        taken: set[str] = set()
        with folder_in_place(output) as stage:
            for trace in _told(made, totals):
                name = f"{_own_name(_file_name(trace.id), taken)}.jsonl.gz"
                require_apart([output / name], read)
                if not _is_there(output / name, trace, replace):
                    write_traces([trace], stage / name)
    for file, reason in source.skipped:
        say(f"left out {visible(file)}: {visible(reason)}")
    total = sum(totals, Found())
    if total.traces > 1:
        say(f"{counted(total.traces, 'trace')}: {total.sentence()}")
    if no_redact:
        say("secrets were kept, as --no-redact says")
    say(f"wrote {output}")


def _changing(no_redact: bool, emails: bool, homes: bool, shape: bool) -> Callable[[Trace], Trace]:
    """The change that every trace goes through before it is written."""
    from ..recording.redaction import redacted
    from ..recording.shape import shape_only

    if shape:
        numbers = count(1)
        return lambda trace: shape_only(trace, next(numbers))
    return (lambda trace: trace) if no_redact else partial(redacted, emails=emails, homes=homes)


def _told(traces: Iterable[Trace], totals: list[Found]) -> Iterator[Trace]:
    """The traces one by one, each with its line as it comes."""
    from ..recording.found import found_in
    from ..text.wording import visible

    for trace in traces:
        found = found_in(trace)
        totals.append(found)
        say(f"{visible(trace.id)} ({trace.source.format}): {found.sentence()}")
        yield trace


def _require_place(output: Path, one_file: bool) -> None:
    if not one_file and (output.suffix or output.is_file()):
        raise BenchError(f"{output}: no native file ends like this — give a folder, or a name in {', '.join(ENDINGS)}")
    if one_file and output.is_dir():
        raise BenchError(f"{output}: is a folder — give a file name, or a folder whose name has no ending")


def _is_there(target: Path, trace: Trace, replace: bool) -> bool:
    """True if a file holds exactly this trace already. Raises BenchError where it holds anything else: it may be all that is left of a run."""
    from ..traces.documents import Document
    from ..traces.lines import KEY, encode_trace

    if not target.exists():
        return False
    there = Document(target)
    if not isinstance(there.head, dict) or KEY not in there.head:
        raise BenchError(f"{target}: is there already, and is no trace — give another folder, or move it away")
    if there.data == encode_trace(trace):
        return True
    if not replace:
        what = "is there already, and not as this import would write it"
        raise BenchError(f"{target}: {what} — give another folder, or --replace")
    return False


def _file_name(case: str) -> str:
    """A case id as a path below the output: folders stay, what leads out of it, hides in it or that a file system refuses does not.

    >>> _file_name("runs/r2"), _file_name("../../etc/x"), _file_name("a:b#1"), _file_name(".."), _file_name(".git/x")
    ('runs/r2', 'etc/x', 'a_b_1', 'trace', 'git/x')
    """
    parts = [
        "".join(char if char.isalnum() or char in "._- " else "_" for char in part).lstrip(". ")[:120]
        for part in case.split("/")
    ]
    return "/".join(filter(None, parts)) or "trace"


def _own_name(name: str, taken: set[str]) -> str:
    """A name that no trace before has, with a number where one has: ids that differ may give one name, and a file system may not tell two apart
    that do (by capitals, by how an accent is written).

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
