"""Reports: what every format must carry, and what none may do."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from compared import HALF, HOSTILE, LOG, TABLE, comparison, hostile, recording, unmeasured
from hypothesis import given, strategies as st

from bench.cli.show import step_lines
from bench.comparison.decision import decide
from bench.evidence.side_by_side import excerpt
from bench.model import Comparison, Delta
from bench.model.errors import BenchError
from bench.reports import REPLAY_LIMIT, build_blocks, render, rendered
from bench.reports.blocks import Beside, Cell, Chart, Column, Fold, Point, Prose, SideBySide, Table, change
from bench.reports.charts import svg
from bench.reports.decision_sentence import decision_sentence
from bench.reports.html import looks
from bench.text.wording import quantity, visible


@pytest.fixture(params=[comparison, hostile, unmeasured])
def compared(request: pytest.FixtureRequest) -> Comparison:
    found: Comparison = request.param()
    return found


# ---------------------------------------------------------------- hostile content


@pytest.mark.parametrize("name", ["html", "text", "markdown", "junit"])
def test_hidden_characters_are_shown_not_sent(name: str) -> None:
    text = rendered([hostile()], name)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "U+202E" in text
    assert all(char.isprintable() or char in "\n\u202f" for char in text)


def test_markdown_keeps_hostile_text_inert() -> None:
    text = re.sub(r"(?s)(`{3,})text\n.*?\n\1", "", rendered([hostile()], "markdown"))
    assert "<script" not in text
    assert "](" not in text.replace("\\](", "")
    assert "http://evil" not in text
    table = next(line for line in text.splitlines() if line.startswith("| fail"))
    assert table.count("|") == 5


def test_markdown_fence_is_longer_than_any_in_the_text() -> None:
    text = rendered([comparison(LOG + "\n````\n# out\n````\n")], "markdown")
    assert "`````text" in text


# ---------------------------------------------------------------- the other formats


def test_json_rows_are_the_comparisons_rows() -> None:
    compared = comparison()
    document = json.loads(rendered([compared], "json"), parse_constant=pytest.fail)
    assert {"rows", "signature", "verdicts", "summary"} <= set(document)
    assert [list(row) for row in document["rows"]] == [
        ["strategy", "metric", "case", "value", "unit", "n", "reason"] for _ in compared.rows
    ]
    assert [(r["strategy"], r["metric"], r["case"], r["value"]) for r in document["rows"]] == [
        (row.strategy, row.metric, row.case, row.value) for row in compared.rows
    ]
    assert {row["case"] for row in document["summary"]} == {None}
    assert document["signature"]["seed"] == 0
    assert [verdict["outcome"] for verdict in document["verdicts"]] == ["fail", "pass", "inconclusive", "skipped"]


def test_json_has_no_nan_and_says_why_a_value_is_missing() -> None:
    compared = comparison()
    broken = msgspec.structs.replace(next(iter(compared.rows)), value=math.nan, n=math.inf)
    document = json.loads(
        rendered([msgspec.structs.replace(compared, rows=(broken,))], "json"), parse_constant=pytest.fail
    )
    assert document["rows"][0]["value"] is None
    assert document["rows"][0]["reason"] == "nan is no finite number"


def test_json_and_csv_agree() -> None:
    rows = json.loads(rendered([hostile()], "json"))["rows"]
    told = {row["metric"] for row in rows if row["reason"] != "nothing to measure"}
    rows = [row for row in rows if row["metric"] in told]
    table = list(csv.DictReader(io.StringIO(rendered([hostile()], "csv"), newline="")))
    assert len(rows) == len(table)
    for row, line in zip(rows, table, strict=True):
        assert (row["strategy"], row["metric"], row["case"]) == (line["strategy"], line["metric"], line["case"])
        assert (row["value"] is None) == (line["value"] == "")
        assert row["value"] is None or float(line["value"]) == row["value"]


def test_junit_tells_outcomes_apart() -> None:
    suite = ET.fromstring(rendered([comparison()], "junit")).find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5", "failures": "1", "errors": "1", "skipped": "1",
    }  # fmt: skip


def test_junit_without_gates_says_whether_anything_was_measured() -> None:
    quiet = msgspec.structs.replace(comparison(), rules=(), verdicts=())
    good = ET.fromstring(rendered([quiet], "junit"))
    assert [case.get("name") for case in good.iter("testcase")] == ["measured something"]
    assert good.find(".//error") is None
    bad = ET.fromstring(rendered([unmeasured()], "junit"))
    assert {error.get("type") for error in bad.iter("error")} == {"inconclusive", "raised"}


def test_markdown_has_the_answer_then_what_failed_and_all_else_behind_a_fold() -> None:
    text = rendered([comparison()], "markdown")
    places = [
        text.index(said)
        for said in ("needed.recall is 0.75, the limit is", "Ship mask: ", "<summary>Details", "What was compared")
    ]
    assert places == sorted(places)
    assert "❌ Of 4 gates, 1 fails" in text
    assert text.count("<details") == text.count("</details>")


def test_markdown_of_several_begins_with_a_table_and_opens_only_where_a_gate_failed() -> None:
    text = rendered([comparison(), unmeasured()], "markdown")
    assert text.index("| scenario |") < text.index("<details")
    assert re.findall(r"<details( open)?><summary><b>", text) == [" open", ""]
    assert text.count("<details") == text.count("</details>")


@pytest.mark.slow
@pytest.mark.parametrize("scenarios", [1, 30, 90, 400])
def test_markdown_stays_below_what_a_comment_holds_and_says_what_is_left_out(scenarios: int) -> None:
    many = [comparison("x_1 " * 4000 + str(number), title=str(number)) for number in range(scenarios)]
    text = rendered(many, "markdown")
    assert len(text) < 65_536
    assert ("see the HTML report" in text) == (scenarios > 1)
    last = f"<b>{scenarios - 1}</b>" if scenarios > 1 else "# 0\n"
    assert (last in text) == (scenarios < 90)
    assert "❌ Of 4 gates" in text or scenarios == 400


@pytest.mark.parametrize("name", ["html", "text", "markdown"])
def test_every_report_says_what_replay_cannot_know(name: str) -> None:
    assert " ".join(REPLAY_LIMIT.split()) in " ".join(rendered([comparison()], name).split())


# ---------------------------------------------------------------- panels


def _sentence(compared: Comparison, panel: str, at: int = 0) -> str:
    return [block.text for block in build_blocks(compared, [panel])[0].blocks if isinstance(block, Prose)][at]


def test_the_ranking_opens_with_the_decision() -> None:
    compared = comparison()
    assert _sentence(compared, "ranking") == decision_sentence(decide(compared))
    assert _sentence(compared, "ranking").startswith("Ship mask: a run costs 750 tokens")


def test_the_ranking_says_of_everybody_whether_it_may_be_shipped() -> None:
    blocks = build_blocks(comparison(), ["ranking"])[0].blocks
    (beside,) = (block for block in blocks if isinstance(block, Beside))
    (table,) = (block for block in beside.blocks if isinstance(block, Table))
    assert len(table.columns) <= 5
    said = {row[0].text: row[-1] for row in table.rows}
    assert list(said) == ["mask", "keep_all", "cut"], "those that qualify first, and no reference that nobody can ship"
    assert [cell.text for cell in said.values()] == ["ship it", "qualifies", "loses too much:"]
    assert said["cut"].detail == "50% of its turns would have missed something, above 5% and 1 gate failed"


def test_nobody_is_shipped_where_a_gate_fails_everywhere() -> None:
    compared = comparison()
    failing = tuple(msgspec.structs.replace(verdict, outcome="fail") for verdict in compared.verdicts)
    alone = msgspec.structs.replace(compared, verdicts=failing, references=("floor",))
    assert _sentence(alone, "ranking").startswith("Nobody qualifies: fails a gate (1 of 2), loses too much (1 of 2).")


def test_a_declared_reference_never_wins_and_is_no_contender() -> None:
    compared = msgspec.structs.replace(comparison(), strategies=("floor", "cut"), references=("mask",))
    assert _sentence(compared, "ranking").startswith("Nobody qualifies: loses too much (1 of 1).")


def test_no_table_has_two_columns_of_one_name(compared: Comparison) -> None:
    for panel in build_blocks(compared):
        for block in panel.blocks:
            for table in block.blocks if isinstance(block, Fold | Beside) else (block,):
                if isinstance(table, Table):
                    titles = [column.title for column in table.columns]
                    assert len(titles) == len(set(titles)), panel.name


def test_nothing_lost_and_nothing_measured_are_two_things() -> None:
    assert _sentence(unmeasured(), "losses").startswith("Not measured")
    compared = comparison()
    whole = tuple(msgspec.structs.replace(case, results=(), results_damaged=0) for case in compared.cases)
    assert _sentence(msgspec.structs.replace(compared, cases=whole), "losses", 1).startswith("Nothing")
    assert _sentence(compared, "losses", 1).startswith(
        "1 of 2 tool results lost something, 1 of them something that a later turn needed."
    )


def test_the_worst_results_come_first_and_no_case_takes_all_the_room() -> None:
    compared = comparison()
    first, second = compared.cases
    worst = first.results[0]
    many = [msgspec.structs.replace(worst, step=number, missed=number) for number in range(9)]
    cases = (
        msgspec.structs.replace(first, results=tuple(many), results_damaged=9),
        msgspec.structs.replace(second, results=(msgspec.structs.replace(worst, missed=0),), results_damaged=1),
    )
    (panel,) = build_blocks(msgspec.structs.replace(compared, cases=cases), ["losses"])
    shown = [(block.case, block.result.missed) for block in panel.blocks if isinstance(block, SideBySide)]
    assert shown == [(first.id, 8), (first.id, 7), (first.id, 6), (second.id, 0)]


def test_a_table_stands_beside_what_was_kept_of_it() -> None:
    compared = comparison()
    first = compared.cases[0]
    kept = msgspec.structs.replace(first.results[0].kept[0], rows=HALF)
    shown = msgspec.structs.replace(first.results[0], rows=TABLE, kept=(kept,))
    cases = (msgspec.structs.replace(first, results=(shown,)), compared.cases[1])
    page = rendered([msgspec.structs.replace(compared, cases=cases)], "html")
    assert "<tr><td>Wall_1</td><td>4.5</td></tr>" in page
    assert '<tr><td>Wall_1</td><td class="gone">4.5</td></tr>' in page
    assert '<tr class="gone"><td class="gone">Wall_2</td><td class="gone">9</td></tr>' in page
    assert '<th scope="col" class="gone">Area</th>' in page
    assert HALF.caption in page


def test_every_format_says_what_a_failed_gate_dropped() -> None:
    said = 'step 2 (run) dropped "Level_12"; step 3 needed "Level_12"'
    for name in ("text", "markdown", "junit", "json", "html"):
        text = " ".join(rendered([comparison()], name).replace("\\_", "_").split())
        shown = re.sub(r"&quot;|&#34;|\\\"", '"', text)
        assert "cut: needed.recall is 0.75, the limit is" in shown
        assert said in shown or re.sub(r"\s", "", said) in re.sub(r"\s", "", shown), name
    document = json.loads(rendered([comparison()], "json"))
    assert document["verdicts"][0]["losses"] == [said, "and 1 more place"]


@pytest.mark.slow
def test_a_panel_of_ones_own_needs_no_edit_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from bench.reports.blocks import Prose\n"
        "from bench.reports import panel, rendered\n"
        "@panel('mine', order=15, title='Mine?')\n"
        "def mine(comparison):\n"
        "    return [Prose(f'{len(comparison.cases)} cases of mine')]\n"
        "from compared import comparison\n"
        "print(rendered([comparison()], 'text'))\n"
    )
    path = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]
    code = f"import sys, runpy; sys.path[:0] = {path!r}; runpy.run_path({str(tmp_path / 'mine.py')!r})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "2 cases of mine" in ran.stdout


# ---------------------------------------------------------------- writing


def test_no_comparison_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="nothing to report"):
        render([], tmp_path / "r.html")


def test_lone_surrogates_are_written(tmp_path: Path) -> None:
    compared = comparison("value \ud800 here run_77", "odd \udfff")
    for ending in ("html", "txt", "md", "xml", "json", "csv"):
        assert render([compared], tmp_path / f"r.{ending}").stat().st_size


# ---------------------------------------------------------------- numbers, texts, charts


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.99999, "fraction", ">99.9%"), (0.00001, "fraction", "<0.1%"), (0.0, "fraction", "0%"),
        (0.123, "fraction", "12.3%"), (-0.009, "fraction", "−0.9%"), (1.5, "fraction", "150%"),
        (0.00001234, "usd", "$0.0000123"), (1234.5, "usd", "$1\u202f234.50"), (0, "usd", "$0.00"),
        (1e6, "tokens", "1\u202f000\u202f000"), (2.345, "turns", "2.345"), (-3, "turns", "−3"), (math.nan, "x", "not measured"),
    ],
)  # fmt: skip
def test_quantity(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@given(st.floats(0, 1, allow_nan=False))
def test_a_share_reads_whole_only_where_it_is(share: float) -> None:
    assert (quantity(share, "fraction") == "100%") == (share == 1.0)
    assert (quantity(share, "fraction") == "0%") == (share == 0.0)


def test_change_of_nothing_measured_says_why() -> None:
    missing = Delta(strategy="a", reference="b", metric="m", delta=None, relative=None, low=None, high=None, n=0,
                    better=None, reason="no case was measured for both")  # fmt: skip
    assert change(missing, "tokens") == Cell("", "muted", "no case was measured for both")


@pytest.mark.slow
@given(st.text())
def test_visible_text_hides_nothing_and_is_stable(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    shown.encode("utf-8")
    assert all(char.isprintable() or char in "\n\t" or char.isspace() for char in shown)


@given(st.text(alphabet="ab_1 \n", max_size=3000), st.integers(40, 900))
def test_excerpt_is_the_text_in_order_and_counts_what_it_leaves_out(text: str, limit: int) -> None:
    spans = excerpt(text, ["a_1", "b1"], ["ab_1"], limit)
    shown = [span.text for span in spans if span.kind != "gap"]
    left_out = sum(int(re.sub(r"\D", "", span.text)) for span in spans if span.kind == "gap")
    assert sum(map(len, shown)) + left_out == len(text)
    assert "".join(shown) == text or left_out
    at = 0
    for part in shown:
        at = text.index(part, at) + len(part)


@pytest.mark.parametrize("text", ["a run_7 b", '["x\\nrun_7\\n"]', "\\u0027run_7\\u0027", "(run_7)"])
def test_excerpt_marks_a_fact_also_after_an_escape(text: str) -> None:
    assert [span.text for span in excerpt(text, ["run_7"], [], 99) if span.kind == "lost"] == ["run_7"]


def test_excerpt_marks_no_part_of_a_longer_word() -> None:
    assert all(span.kind == "plain" for span in excerpt("rerun_7 run_71", ["run_7"], [], 99))


def test_only_what_is_advised_and_what_runs_today_have_a_colour() -> None:
    names = [f"s{number}" for number in range(20)]
    advice = SimpleNamespace(advice=SimpleNamespace(named="s3"))
    rules = looks([*names, "recorded"], [SimpleNamespace(comparison=advice)]).splitlines()
    assert [rule.split(" {")[0] for rule in rules if "--mark" in rule] == ["#c1 .s3", "#c1 .s20"]
    kept = SimpleNamespace(comparison=SimpleNamespace(advice=SimpleNamespace(named="recorded")))
    assert "var(--today)" in looks(["recorded"], [kept]).splitlines()[-1]
    assert all("var(--g" in rule for rule in rules if "#c1" not in rule)


@pytest.mark.parametrize("kind", ["scatter", "line"])
def test_chart_is_the_same_bytes_and_names_nothing_remote(kind: str) -> None:
    points = tuple(Point(HOSTILE, at, at / 10, "history cut" if at == 3 else "") for at in range(10))
    chart = Chart(kind, HOSTILE, "calls", "share", "calls", "fraction", points, "text")  # type: ignore[arg-type]
    drawn = svg(chart, {})
    assert drawn == svg(chart, {})
    assert "http" not in drawn.replace("http://evil.example", "").replace("https://evil.example", "")
    ET.fromstring(drawn)


def test_chart_without_points_is_nothing() -> None:
    assert svg(Chart("line", "t", "x", "y", "calls", "tokens", (), "text"), {}) == ""


def test_numbers_of_hundreds_of_digits_are_drawn() -> None:
    points = tuple(Point(f"s{at}", 10**300 * at, 10**300) for at in (1, 2))
    chart = Chart("scatter", "t", "prompt tokens", "tokens", "tokens", "tokens", points, "both are large")
    assert svg(chart, {}).startswith("<svg")


def test_footnotes_are_numbered_once() -> None:
    table = Table(
        (Column("a"), Column("b")), ((Cell("1", note="why"), Cell("2", note="why")), (Cell("3"), Cell("4", note="z")))
    )
    assert table.footnotes() == ("why", "z")


def test_steps_of_a_hostile_trace_are_one_line_each() -> None:
    trace = recording(LOG + HOSTILE, HOSTILE)
    lines = list(step_lines(trace))
    assert len(lines) == len(trace.steps) + 2
    assert all("\x1b" not in line and "\n" not in line for line in lines)
