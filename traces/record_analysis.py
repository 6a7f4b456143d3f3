"""Record the analysis sessions again: `python traces/record_analysis.py [FOLDER]` writes
analysis/*.jsonl and studies/*.jsonl into FOLDER.

FOLDER is this one by default. Needs numpy and scipy (the `record` extra); takes about ten seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recorders.analysis_sessions import aborted, completed, empty_plan
from recorders.analysis_studies import studies

from bench.traces.formats.native import write_traces


def main(folder: Path) -> None:
    sessions = [completed(whole=True), completed(whole=False), aborted(), empty_plan()]
    for place, traces in (("analysis", sessions), ("studies", studies())):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for trace in traces:
            write_traces([trace], folder / place / f"{trace.id}.jsonl")
            print(f"{place}/{trace.id}.jsonl: {len(trace.steps)} steps, {len(trace.results)} results")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
