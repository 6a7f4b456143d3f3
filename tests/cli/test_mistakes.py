"""Mistakes at the command line: each is one line that holds what to write instead, exit 2, and nothing written."""

from __future__ import annotations

import pytest
from cli_folder import SCENARIO, files
from repository import bench

BAD_FILES = {
    "half.jsonl": '{"bench_trace":1,"id":"h","source":{"format":"native"}}\n{"kind":"user","index":0,"con',
    "types.jsonl": '{"bench_trace":1,"id":"h","source":{"format":"native"}}\n{"kind":"user","index":0,"content":7}\n',
    "newer.jsonl": '{"bench_trace":99,"id":"h","source":{"format":"native"}}\n',
    "empty.jsonl": "",
    "notes.txt": "not a trace",
    "broken.toml": "title = \n",
    "typo.toml": SCENARIO.replace("[strategies]", "[strategeis]"),
    "metric.toml": SCENARIO.replace('"needed.recall"', '"needed.recal"'),
    "judged.toml": f'{SCENARIO}\n[[gates]]\nmetric = "needed.recall"\nstrategy = "keep_al"\nmin = 0.5\n',
    "unknown.toml": SCENARIO.replace("summarizers.py:cut:limit=900", "truncat"),
    "setting.toml": SCENARIO.replace("limit=900", "limt=900"),
    "gone.toml": SCENARIO.replace('"runs"', '"none"'),
    "limit.toml": SCENARIO.replace("min = 0.5", 'min = "half"'),
    "table.toml": "traces = ['runs']\nstrategies = {keep_all = {}}\n[gates]\n",
    "unmeasured.toml": SCENARIO.replace('metric = "needed.recall"\n', ""),
    "over.toml": SCENARIO.replace("metric =", "metrc ="),
    "always.toml": SCENARIO.replace("min = 0.5", "min = 0"),
    "better.toml": SCENARIO.replace("min = 0.5", "max = 0.5"),
    "nameless.toml": SCENARIO.replace("mine =", '"" ='),
    "probe.toml": f'{SCENARIO}\n[[probes]]\nquestion = "rows?"\nexpect = "4711"\n',
    "bad_baseline.toml": SCENARIO,
    "bad_baseline.baseline.json": "{",
    "syntax.py": "def f(:\n",
    "nothing.py": "def f(*, limit=3): ...\n",
}
RUN = "run runs --strategy keep_all"
MISTAKES = [
    # what is run
    ("run", "recordings"),
    ("run none.toml", "none.toml"),
    ("run broken.toml", "broken.toml"),
    ("run typo.toml", "strategies"),
    ("run metric.toml", "needed.recall"),
    ("run judged.toml", "keep_all"),
    ("run unknown.toml", "truncate"),
    ("run setting.toml", "limit"),
    ("run gone.toml", "none"),
    ("run limit.toml", "min"),
    ("run table.toml", "[[gates]]"),
    ("run unmeasured.toml", "bench list metrics"),
    ("run over.toml", "unknown key 'metrc' — did you mean metric"),
    ("run always.toml", "needed.recall"),
    ("run better.toml", "max"),
    ("run nameless.toml", "name"),
    ("run probe.toml", "probes[1]: unknown key 'expect' — did you mean expected"),
    ("run bad_baseline.toml", "--update-baseline"),
    ("run none/*.toml", "none/*.toml"),
    ("run runs/facts.jsonl,runs/shell.jsonl --strategy keep_all", "runs/facts.jsonl,runs/shell.jsonl"),
    ("run rusn --strategy keep_all", "runs"),
    ("run one.tml --strategy keep_all", "one.toml"),
    ("run syntax.py --strategy keep_all", "mine=summarizer=syntax.py:FUNCTION"),
    # strategies
    (f"{RUN} --strategy keepall", "keep_all"),
    (f"{RUN} --strategy mask-10", "mask-10=compactor=mask_observations:keep_last=10"),
    (f"{RUN} --strategy truncate", "truncate=summarizer=truncate"),
    (f"{RUN} --strategy m=truncate", "m=summarizer=truncate"),
    (f"{RUN} --strategy m=summarizer=", "bench list strategies"),
    (f"{RUN} --strategy m=summarizer=csv", "csv_table"),
    (f"{RUN} --strategy m=store=truncate:limit=x", "limit=x"),
    (f"{RUN} --strategy m=store=none.py:f", "none.py"),
    (f"{RUN} --strategy m=store=syntax.py:f", "syntax.py:1"),
    (f"{RUN} --strategy m=store=summarizers.py:cot", "cut"),
    (f"{RUN} --strategy m=store=nothing.py:f", "give it a parameter"),
    (f"{RUN} --strategy today=store=full", "choose another"),
    (f"{RUN} --strategy m=store=truncate+store=full", "store"),
    (f"{RUN} --strategy m=compactor=truncate", "summarizer=truncate"),
    (f"{RUN} --strategy m=compactor=mask_obs", "mask_observations"),
    (f"{RUN} --strategy m=compactor=mask_observations:keep=3", "keep_last"),
    (f"{RUN} --strategy m=compactor=mask_observations:keep_last=-1", "keep_last=-1"),
    (f"{RUN} --strategy m=compactor=mask_observations:keep_last", "keep_last=VALUE"),
    (f"{RUN} --strategy m=compactor=mask_observations:keep-last=5|9", "keep_last=5|9"),
    # recordings
    (f"{RUN} none.jsonl", "none.jsonl"),
    (f"{RUN} types.jsonl", "types.jsonl:2"),
    (f"{RUN} newer.jsonl", "newer.jsonl:1"),
    (f"{RUN} empty.jsonl", "empty.jsonl"),
    (f"{RUN} notes.txt", "notes.txt"),
    (f"{RUN} hollow", "hollow"),
    (f"{RUN} natvie:runs", "native"),
    ("audit claude_code:runs/facts.jsonl", "native:runs/facts.jsonl"),
    ("audit summarizers.py", "summarizers.py"),
    ("show none.jsonl", "none.jsonl"),
    ("show one.toml", "bench run one.toml"),
    ("show runs --run fact", "facts"),
    ("show runs --step 1", "--run facts"),
    # outputs
    (f"{RUN} -o report.pdf", ".html"),
    (f"{RUN} -o one.toml/x.json", "x.json"),
    ("audit runs -o x.csv", "html"),
    ("import runs -o runs", ".jsonl"),
    # options and commands
    (f"{RUN} --update-baseline", "--update-baseline"),
    (f"{RUN} --against nowhere", "--against"),
    (f"{RUN} --against none.json", "-o none.json"),
    (f"{RUN} --against one.toml", "score file"),
    ("run one.toml --against x.json --update-baseline", "--against"),
    (f"{RUN} --limit sizes=1GB", "size"),
    (f"{RUN} --limit call=0", "'call'"),
    (f"{RUN} --limit memory=1MB", "at least 268,435,456"),
    (f"{RUN} --jobs 0", "--jobs"),
    (f"{RUN} --engine ray", "dask"),
    ("run --nonsense", "run --help"),
    ("metrics", "bench --help"),
    ("run --jbos 2", "--jobs"),
    ("run --update", "--update-baseline"),
    ("list strategy", "strategies"),
    ("list strategies masc", "bench list strategies"),
    ("list metrics strategies", "bench list metrics"),
    ("rnu", "run"),
    ("runs", "bench --help"),
]


@pytest.mark.parametrize(("line", "instead"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_a_mistake_prints_one_line_with_the_correction(folder, capsys, line, instead):
    for name, text in BAD_FILES.items():
        (folder / name).write_text(text)
    (folder / "hollow").mkdir()
    before = files()
    assert bench(*line.split()) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ")
    assert instead in error
    assert "defect" not in error
    assert files() == before
