"""What prompts hold: facts by text, prompts by their edits, sightings of results."""

from __future__ import annotations

from bench.evidence.of_run import same_prompts
from bench.evidence.presence import MessageTexts
from generated import traces
from handmade import opened, result, run_of, trace
from hypothesis import given, strategies as st
from measured import evidence_of, replayer_of
from reference import rebuilt

from bench.evidence.spoken import message_texts
from bench.model import Message, ModelTurn, ToolCall, ToolResult, Trace
from bench.text.cut import without_halves
from bench.text.texts import FactsHeld, Texts


def test_half_a_number_or_word_is_not_the_fact() -> None:
    facts = FactsHeld(["471", "run_7", "/data/run_7.csv"], Texts())
    assert facts("0.471, 4710, 471.5, 471mm, xrun_7 and run_71") == ()
    assert facts("(471)") == facts("-471.0") == ("471",)
    assert set(facts("see /data/run_7.csv, twice")) == {"run_7", "/data/run_7.csv"}


def test_a_long_text_is_searched_like_a_short_one() -> None:
    facts = ["471", "run_7", "/data/run_7.csv", "36.5"]
    short = "run_7 has 471 rows, 136.5 in all"
    for text in (short, short + " and" * 30_000):
        assert Texts().missing(text, facts) == ["/data/run_7.csv", "36.5"]
        assert set(FactsHeld(facts, Texts())(text)) == {"471", "run_7"}


def test_a_digit_at_either_end_of_a_fact_may_belong_to_a_longer_number() -> None:
    facts = FactsHeld(["5kb", "run_7", "kb"], Texts())
    assert facts("1.5kb of run_7.5") == ()
    assert facts("5kb of run_7, kb") == ("5kb", "run_7", "kb")


def test_a_value_among_paragraphs_is_read_as_in_a_short_text() -> None:
    """`[1,250]` is a list where the text is a value, and one number where a text only shows it: whatever the length."""
    for padding in ("x", "x " * 600):
        facts = FactsHeld(["1250", "250"], Texts())
        assert facts(f"{padding}\n\n[1,250]") == ("1250", "250")
        assert facts(f'{{"a": "{padding}"}}\n\n{{"n": [1,250]}}') == ("1250", "250")  # two values are a text
        assert facts(f'{{"a": "{padding}",\n\n"n": [1,250]}}') == ("250",)


def test_an_escape_is_no_part_of_a_word_in_a_long_text_either() -> None:
    for padding in ("see", "see " * 300):
        facts = FactsHeld(["nrun_7", "run_7"], Texts())
        assert facts(f'{padding} {{"a": 1,\n\n"b": "x\\nrun_7"}}') == ("run_7",)


def test_what_is_shown_of_a_result_says_nothing_with_half_a_word() -> None:
    texts = MessageTexts([result("files: /data/part_12.csv and more", index=2)])
    cut = Message(role="tool", text="files: /data/part_1", kind="result", step=2)
    written = Message(role="user", text="files: /data/part_1", kind="made")
    assert [texts.shown(message) for message in (cut, written)] == ["files: /data/", "files: /data/part_1"]
    assert (texts(cut), texts(written)) == (("files: /data/",), ("files: /data/part_1",))


def test_the_arguments_of_a_tool_call_are_in_the_prompt() -> None:
    call = ToolCall(id="c", name="read", arguments={"path": "/data/run_7.csv"})
    written = ToolCall(id="d", name="bash", arguments={"command": "ls /data"}, in_text=True)
    message = Message(role="assistant", text="", kind="model", tool_calls=(call, written))
    assert message_texts(message) == ("path: /data/run_7.csv",)


def test_a_result_after_the_last_prompt_is_not_sighted() -> None:
    recording = opened([result("total 471", index=2)])
    late = trace(*recording.steps, result("total 472", index=9))
    seen = replayer_of(late).evidence.sightings(run_of(late, "keep_all"), str.split)
    found = [(place, subject.index) for place, subject, _ in seen if isinstance(subject, ToolResult)]
    assert found == [("shown", 2), ("end", 2)]


def test_the_items_of_a_prompt_follow_its_edits() -> None:
    recording = opened([result("alpha beta", index=2), ModelTurn(index=3, content="beta"), result("gamma", index=4)])
    run = run_of(recording, "mask=compactor=mask_observations:keep_last=1")
    seen = replayer_of(recording).evidence.sightings(run, str.split)
    held = [dict(shown.items()) for place, _, shown in seen if place == "prompt"]
    assert held[0]["alpha"] == 1
    assert held[0]["beta"] == 1
    assert "alpha" not in held[1]
    assert held[1]["beta"] == 1  # the model's own; the result's is masked
    assert held[1]["gamma"] == 1


@given(recording=traces(extras=True))
def test_items_and_texts_are_those_of_the_rebuilt_prompts(recording: Trace) -> None:
    run = run_of(recording, "mask=compactor=mask_observations:keep_last=1")
    prompts = iter(rebuilt.prompts(run))
    for place, _, shown in replayer_of(recording).evidence.sightings(run, str.split):
        if place == "prompt":
            _, messages, _ = next(prompts)
            words = [word for text in rebuilt.texts(messages, recording) for word in text.split()]
            assert sorted(shown.items().elements()) == sorted(words)


def test_prompts_are_walked_through_once_for_all_who_ask() -> None:
    recording = opened([result("total 471", index=2)])
    evidence = evidence_of(recording, run_of(recording, "keep_all"))
    assert evidence.prompts.scan is evidence.prompts.scan


def test_runs_that_showed_the_same_share_what_their_prompts_hold() -> None:
    recording = opened([result("total 471", index=2)])
    keeps, stores, cuts = (
        run_of(recording, name) for name in ("keep_all", "s=store=full", "c=summarizer=truncate:limit=3")
    )
    assert same_prompts(keeps) == same_prompts(stores) != same_prompts(cuts)


SHOWN = st.tuples(
    st.sampled_from(["", "<ref> ", "cut: ", "Rows 12 of 40\n"]),
    st.text("ab1 .,/\n", min_size=1, max_size=40),
    st.integers(0, 40),
    st.integers(0, 12),
    st.sampled_from(["", " … ", "\n[more]", "b1"]),
    st.sampled_from(["", " (end)", "1"]),
)


@given(SHOWN)
def test_half_words_go_behind_other_text_too_as_in_the_slow_reference(shown) -> None:
    head, untruncated, front, back, between, foot = shown
    tail = untruncated[len(untruncated) - back :] if back else ""
    text = head + untruncated[:front] + between + tail + foot
    assert without_halves(text, untruncated) == rebuilt.without_halves(text, untruncated)


def test_a_line_before_a_cut_does_not_keep_half_a_path() -> None:
    untruncated = "files: /data/part_12.csv and more"
    assert without_halves("<ref> " + untruncated[:18], untruncated) == "<ref> files: /data/"
    assert without_halves("<ref> " + untruncated[:18] + "\n[cut]", untruncated) == "<ref> files: /data/\n[cut]"
    assert without_halves("Rows: 12 of 40", "1250 rows") == "Rows: 12 of 40"


def test_a_result_in_another_layout_is_said_in_plain_lines_and_json_as_it_stands() -> None:
    texts = MessageTexts([result(data={"id": "W1", "n": 2, "k": 3}, index=2)])
    shown = ("<o><id>W1</id><n>2</n></o>", '{"id": "W1", "n": 2}')
    said = [texts.said(Message(role="tool", kind="result", step=2, text=text)) for text in shown]
    assert [text.split() for text in said] == [["o:", "id:", "W1", "n:", "2"], ['{"id":', '"W1",', '"n":', "2}"]]
