"""Mistakes at the command line: each is one line with the right thing to write instead, exit 2, and nothing written."""

from __future__ import annotations

import pytest
from cli_folder import SCENARIO, files
from repository import bench

BAD_FILES = {
    "half.jsonl": '{"bench_trace":1,"id":"h","source":{"format":"native"}}\n{"kind":"user","index":0,"con',
    "types.jsonl": '{"bench_trace":1,"id":"h","source":{"format":"native"}}\n{"kind":"user","index":0,"content":7}\n',
    "newer.jsonl": '{"bench_trace":99,"id":"h","source":{"format":"native"}}\n',
    "same.jsonl": '{"bench_trace":1,"id":"facts","source":{"format":"native"}}\n',
    "empty.jsonl": "",
    "notes.txt": "not a trace",
    "binary.json": "\x00\x01",
    "broken.toml": "title = \n",
    "typo.toml": SCENARIO.replace("[strategies]", "[strategeis]"),
    "metric.toml": SCENARIO.replace('"needed.recall"', '"needed.recal"'),
    "unknown.toml": SCENARIO.replace("summarizers.py:cut:limit=900", "truncat"),
    "setting.toml": SCENARIO.replace("limit=900", "limt=900"),
    "gone.toml": SCENARIO.replace('"runs"', '"none"'),
    "limit.toml": SCENARIO.replace("min = 0.5", 'min = "half"'),
    "over.toml": SCENARIO.replace("min = 0.5", 'min = 0.5\nover = "worst"'),
    "above.toml": SCENARIO.replace("min = 0.5", "min = 50"),
    "percent.toml": SCENARIO.replace("min = 0.5", 'min = "50%"'),
    "text.toml": SCENARIO.replace('["runs"]', '"runs"'),
    "bad_baseline.toml": SCENARIO,
    "bad_baseline.baseline.json": "{",
    "syntax.py": "def f(:\n",
}
RUN = ("run", "--traces", "runs", "--strategy", "keep_all")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run",), "nothing to replay — give a scenario file, or traces and --strategy SPEC"),
        (("run", "none.toml"), "none.toml: No such file or directory"),
        (("run", "broken.toml"), "broken.toml: not TOML"),
        (("run", "typo.toml"), "unknown key 'strategeis' — did you mean strategies"),
        (("run", "metric.toml"), "unknown metric 'needed.recal' — did you mean needed.recall"),
        (("run", "unknown.toml"), "unknown summarizer 'truncat' — did you mean truncate or untruncated?"),
        (("run", "setting.toml"), "has no parameter 'limt' — did you mean limit?"),
        (("run", "gone.toml"), "none: no such file"),
        (("run", "limit.toml"), "limit.toml: gates[1] (needed.recall): min = 'half': Expected `float | null`"),
        (("run", "bad_baseline.toml"), "bad_baseline.baseline.json:1: Input data was truncated"),
        (("run", "one.toml", "--traces", "runs"), "give scenario files, or traces with --strategy, not both"),
        (("run", "--strategy", "keep_all"), "nothing to replay"),
        ((*RUN, "--strategy", "keep_all"), "two strategies are called 'keep_all'"),
        ((*RUN, "--strategy", "keepall"), "unknown strategy 'keepall' — did you mean keep_all?"),
        ((*RUN, "--strategy", "m=store=truncate:limit=x"), "parameter limit=x: Expected `int`"),
        ((*RUN, "--strategy", "m=store=none.py:f"), "none.py: No such file or directory"),
        ((*RUN, "--strategy", "m=store=syntax.py:f"), "syntax.py:1: cannot be imported: SyntaxError"),
        ((*RUN, "--strategy", "m=store=summarizers.py:cot"), "has no function 'cot' — did you mean cut?"),
        ((*RUN, "--update-baseline"), "--update-baseline needs a scenario file"),
        ((*RUN, "--traces", "none.jsonl"), "none.jsonl: no such file"),
        ((*RUN, "--traces", "half.jsonl"), "half.jsonl:2: ends in the middle of a JSON value"),
        ((*RUN, "--traces", "types.jsonl"), "types.jsonl:2 $.content: expected"),
        ((*RUN, "--traces", "newer.jsonl"), "newer.jsonl:1 $.bench_trace: schema 99 is not 1"),
        ((*RUN, "--traces", "same.jsonl", "--traces", "same.jsonl"), "is taken twice: by same.jsonl and by same.jsonl"),
        ((*RUN, "--traces", "empty.jsonl"), "empty.jsonl: is empty"),
        ((*RUN, "--traces", "notes.txt"), "notes.txt: not recognised: no JSON"),
        ((*RUN, "--traces", "binary.json"), "binary.json:1: not JSON"),
        ((*RUN, "--traces", "hollow"), "hollow: no file matches"),
        ((*RUN, "--traces", "*.nothing"), "*.nothing: no file matches"),
        ((*RUN, "--traces", "natvie:runs"), "unknown trace format 'natvie' — did you mean native"),
        ((*RUN, "-o", "report.pdf"), "report.pdf: unknown ending '.pdf', which decides the format — known: .csv"),
        ((*RUN, "-o", "report"), "report: no ending, which decides the format"),
        ((*RUN, "-o", "runs"), "runs: is a folder"),
        ((*RUN, "-o", "one.toml/x.json"), "x.json: cannot be written"),
        (("run", "--nonsense"), "bench run: No such option"),
        (("run", "--jbos", "2"), "No such option '--jbos'. Did you mean '--jobs'?"),
        (("run", "--strategies", "x"), "'--strategy'"),
        (("run", "--update"), "'--update-baseline'"),
        ((*RUN, "--jobs", "0"), "0 is not in the range x>=1"),
        ((*RUN, "--jobs", "two"), "'two' is not a whole number"),
        ((*RUN, "--metric", "cost"), "No such option '--metric'. `bench run --help` has them all"),
        (("audit", "runs", "--json"), "No such option '--json'. Write -o FILE.json"),
        (("import", "runs", "--format", "x"), "Write the format before the path: FORMAT:PATH"),
        (("gates",), "Did you mean 'bench list gates'?"),
        (("one.toml",), "Did you mean 'bench run one.toml'?"),
        (("show", "one.toml"), "one.toml: no recording — a scenario is run: bench run one.toml"),
        (("run", "syntax.py"), "no recording — code is a strategy: --strategy mine=summarizer=syntax.py:FUNCTION"),
        ((*RUN, "--strategy", "m=summarizer=csv"), "unknown summarizer 'csv' — did you mean csv_table?"),
        ((*RUN, "--format", "jsn"), "unknown format 'jsn' — did you mean json?"),
        ((*RUN, "-o", "x.jsn"), "unknown ending '.jsn', which decides the format — did you mean .json?"),
        ((*RUN, "--against", "nowhere"), "nowhere"),
        ((*RUN, "--limit", "sizes=1GB"), "did you mean size or files?"),
        (
            (*RUN, "--strategy", "m=compactor=truncate"),
            "unknown compactor 'truncate' — it is a summarizer: write summarizer=truncate",
        ),
        ((*RUN, "--strategy", "m=compactor=mask_obs"), "did you mean mask_observations?"),
        (
            (*RUN, "--strategy", "m=compactor=mask_observations:keep=3"),
            "has no parameter 'keep' — did you mean keep_last?",
        ),
        ((*RUN, "--strategy", "m=compactor=mask_observations:keep_last=-1"), "keep_last=-1"),
        ((*RUN, "--strategy", "m=compactor=mask_observations(keep_last=5)"), "write mask_observations:keep_last=5"),
        (
            (*RUN, "--strategy", "m=compactor=mask_observations:keep-last=5|9"),
            "is not key=value — write keep_last=5|9",
        ),
        (
            (*RUN, "--strategy", "m=summarizer=summarizers.cut"),
            "a function follows its file — write summarizers.py:cut",
        ),
        ((*RUN, "-s", "x"), "No such option '-s'. Did you mean '--strategy'?"),
        ((*RUN, "-o", "https://x.y/r.html"), "is an address — give the name of a file on this machine"),
        (("run", "runs/facts.jsonl,runs/shell.jsonl"), "part several by a space: runs/facts.jsonl runs/shell.jsonl"),
        (("runs",), "No such command 'runs'. Did you mean 'bench run runs'?"),
        ((*RUN, "--strategy", "m=store=truncate+store=full"), "slot store is given twice"),
        ((*RUN, "--strategy", "recorde"), "did you mean recorded?"),
        (("run", "rusn", "--strategy", "keep_all"), "rusn: no such file — did you mean runs?"),
        (("run", "one.tml"), "one.tml: no such file — did you mean one.toml?"),
        (("run", "oen.toml"), "oen.toml: No such file or directory — did you mean one.toml?"),
        (("run", "runs/facts.jsonl", "one.toml"), "give scenario files, or traces with --strategy, not both"),
        (("run", "-o"), "Option '-o' requires an argument"),
        (("rnu",), "No such command 'rnu'. Did you mean 'run'?"),
        (("run", "over.toml"), "Invalid enum value 'worst' - at `$.over` — did you mean worst_case?"),
        (("run", "above.toml"), "min = 50: no share is above 1, so it always fails — write 0.5 for 50%"),
        (("run", "percent.toml"), "min = '50%': Expected `float | null`, got `str` — write 0.5"),
        (("run", "text.toml"), "`traces`: Expected `array`, got `str` — write […]"),
        ((*RUN, "--strategy", "m=compactor=mask_observations:keep_last"), "write mask_observations:keep_last=VALUE"),
        (("run", "--hlep"), "Did you mean '--help'?"),
        (("audit", "runs", "--format", "yml"), "Write -o FILE.html"),
        (("audit", "summarizers.py"), "code is a strategy"),
        (("list",), "Missing argument"),
        (("list", "strategy"), "nothing is listed under 'strategy' — did you mean strategies?"),
        (("list", "strategies", "masc"), "no strategies hold 'masc' — did you mean mask"),
        (("list", "metrics", "strategies"), "no metrics hold 'strategies' — write bench list strategies"),
        (("audit", "claude_code:runs/facts.jsonl"), "recognised as native: write native:runs/facts.jsonl"),
        ((*RUN, "--strategy", "m=summarizer=hollow:f"), "hollow: is a folder — name the file in it: hollow/FILE.py:f"),
        (("show",), "Missing argument"),
        (("show", "runs", "--case", "fact"), "holds no trace 'fact' — did you mean facts?"),
        (("show", "runs", "--step", "1"), "--step shows one — add --case facts"),
        (("show", "none.jsonl"), "none.jsonl: no such file"),
        (("show", "half.jsonl"), "half.jsonl:2: "),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_write(folder, capsys, arguments, says):
    for name, text in BAD_FILES.items():
        (folder / name).write_text(text)
    (folder / "hollow").mkdir()
    before = files()
    assert bench(*arguments) == 2
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert says in err
    assert "Traceback" not in err
    assert "defect" not in err
    assert files() == before, "nothing is written, whole or half"
    assert out == "" or "cannot be written" in says
