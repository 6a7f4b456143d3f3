"""Record the building-model sessions again: `python traces/record_building_model.py [FOLDER]`
writes building_model/*.jsonl, and the tasks in inventories/ and rounds/, into FOLDER.

FOLDER is this one by default. Standard library and bench only; recording again gives the same
bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recorders.building_sessions import construction, faults, survey
from recorders.building_tasks import tasks

from bench.traces.formats.native import write_traces


def main(folder: Path) -> None:
    sessions = [("building_model", record()) for record in (survey, construction, faults)]
    for place, session in (*sessions, *tasks()):
        trace = session.trace()
        target = folder / place / f"{trace.id}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_traces([trace], target)
        print(f"{place}/{trace.id}.jsonl: {len(trace.steps)} steps, {len(trace.results)} results")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
