"""The names of runs: one for each, in the sentence, in every table and for `bench show`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from ..model.base import grouped
from ..text.wording import shortened

_NO_NAME = "asks "  # a task without a name is the digest of its question
_LONGEST = 40  # letters of a task
_BEFORE_PART = re.compile(r"/?(?=#|__)")


def names_of(ids: Sequence[str], task_of: Mapping[str, str]) -> dict[str, str]:
    """The name of each run: the part of its path that differs, or its task where it is a line of a
    file.

    >>> names_of(["a#0", "a#1", "a#2"], {"a#0": "3 fly", "a#1": "3 fly", "a#2": ""}).values()
    dict_values(['task 3 fly, run 1', 'task 3 fly, run 2', 'a#2'])
    >>> names_of(["x/a#0", "x/a#1", "y/a#0"], {"x/a#0": "", "x/a#1": "", "y/a#0": ""}).values()
    dict_values(['x#0', 'x#1', 'y#0'])
    """
    names = short_names(ids)
    lines = (run for run in task_of if "#" in names[run])  # of a file
    named = (run for run in lines if task_of[run] and not task_of[run].startswith(_NO_NAME))
    ordered = sorted(named, key=lambda run: (len(run), run))  # #2 comes before #10
    for task, same in grouped((task_of[run], run) for run in ordered).items():
        name = shortened(f"task {task}" if task[0].isdigit() else task, _LONGEST)
        for place, run in enumerate(same, 1):
            names[run] = f"{name}, run {place}" if len(same) > 1 else name
    return names


def short_names(ids: Sequence[str]) -> dict[str, str]:
    """A short name for each id: the folders of its path by which it differs from every other one; a
    line of a file is not called by its number alone.

    >>> short_names(["tau/a/1.json", "tau/b/1.json"])
    {'tau/a/1.json': 'a', 'tau/b/1.json': 'b'}
    >>> short_names(["walls/model-1/r1/run", "walls/model-2/r2/run", "doors/model-1/r1/run"]).values()
    dict_values(['walls/model-1', 'walls/model-2', 'doors/model-1'])
    >>> short_names(["tau/a/1.json"]), short_names(["tau/a.jsonl#0", "tau/a.jsonl#1"]).values()
    ({'tau/a/1.json': '1.json'}, dict_values(['a.jsonl#0', 'a.jsonl#1']))
    """
    parts = [_BEFORE_PART.sub("/", name).split("/") for name in ids]
    differ = [at for at, column in enumerate(zip_longest(*parts)) if len({*column}) > 1]
    for many in range(1, len(differ) + 1):
        shorter = ["/".join(part[at] for at in differ[:many] if at < len(part)) for part in parts]
        if all(shorter) and len({*shorter}) == len({*ids}):
            names = (_BEFORE_PART.sub("", name).lstrip("/_") for name in shorter)
            pairs = zip(ids, names, strict=True)
            return {it: it.rpartition("/")[2] if name[:1] == "#" else name for it, name in pairs}
    return {name: name.rpartition("/")[2] or name for name in ids}
