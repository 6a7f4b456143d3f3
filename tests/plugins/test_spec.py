"""Spec strings: whatever was parsed prints back to a string that parses to the same, and every mistake is named."""

from __future__ import annotations

import pytest
from handmade import compose
from hypothesis import example, given, strategies as st

from bench.model.errors import BenchError, SpecError
from bench.plugins.spec import Spec, format_value, parse_spec, parse_value
from bench.strategies import Strategy, parse_strategy

values = st.one_of(st.text(), st.lists(st.text()).map(tuple))
targets = st.one_of(
    st.text(min_size=1), st.sampled_from(("truncate", "dir/my file.py", "package.module", 'a"b', "a:b"))
)
parameters = st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True), values, max_size=4)


@given(targets, st.none() | st.from_regex(r"[a-z_]\w{0,8}", fullmatch=True).filter(str.isidentifier), parameters)
@example("x", None, {"value": "\xa0edge\x0b"})
@example("x", None, {"value": ("", "]", '"')})
@example("a\\", "f", {"value": "\\"})
def test_a_printed_spec_parses_to_the_same_spec(target, attribute, params):
    spec = Spec(target, attribute, tuple(params.items()))
    assert parse_spec(str(spec)) == spec


@given(values)
def test_a_printed_value_parses_to_the_same_value(value):
    assert parse_value(format_value(value), "whole") == value


def read(parse, text):
    """The value of a text and no error, or None and the error."""
    try:
        return parse(text), ""
    except BenchError as error:
        return None, str(error)


@given(st.text())
def test_any_text_is_a_spec_or_a_one_line_error(text):
    spec, complaint = read(parse_spec, text)
    assert len(complaint.splitlines()) == (spec is None)
    assert spec is None or parse_spec(str(spec)) == spec


@given(st.text())
def test_any_text_is_a_strategy_or_a_one_line_error(text):
    strategy, complaint = read(parse_strategy, text)
    assert len(complaint.splitlines()) == (strategy is None)
    assert strategy is None or parse_strategy(str(strategy)) == strategy


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("none", Spec("none")),
        (" none ", Spec("none")),
        ("a:k=v", Spec("a", None, (("k", "v"),))),
        ("a: k = v , l = [x, y]", Spec("a", None, (("k", "v"), ("l", ("x", "y"))))),
        ('a:k="x,y:z+[="', Spec("a", None, (("k", "x,y:z+[="),))),
        (r'a:k="\"\\"', Spec("a", None, (("k", '"\\'),))),
        ("a:k=[]", Spec("a", None, (("k", ()),))),
        ("a:k=", Spec("a", None, (("k", ""),))),
        ("mine.py:cut", Spec("mine.py", "cut")),
        ("package.module:name:k=1", Spec("package.module", "name", (("k", "1"),))),
        ('"odd:path.py":cut', Spec("odd:path.py", "cut")),
    ],
)
def test_specs_parse_by_the_documented_grammar(text, spec):
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a name is missing"),
        (":k=v", "a name is missing"),
        ("a:", "nothing after the colon"),
        ("a:k=v:l=w", "too many colons"),
        ("a:f:k", "'k' is not key=value"),
        ("a:k=v,w", "'w' is not key=value"),
        ("a:1k=v", "'1k=v' is not key=value"),
        ("a:k=1,k=2", "k is given twice"),
        ('a:k="open', "unclosed quote"),
        ("a:k=[1", "unclosed bracket"),
        ("a:k=1]", "closing bracket without"),
        ("a:k=[1][2]", "closing bracket"),
        ("a:b c", "is no function"),
        ('a:k="x"y', "text after a closing quote"),
        ('a:k="x" or "y"', "text after a closing quote"),
        ("a:k=[1]2", "text after a closing bracket"),
    ],
)
def test_the_error_quotes_the_mistake_in_a_spec(text, says):
    with pytest.raises(SpecError, match="spec ") as caught:
        parse_spec(text)
    assert says in str(caught.value)


# ---------------------------------------------------------------- strategies


def test_a_printed_strategy_parses_to_the_same_strategy():
    text = "mine=store=truncate:limit=80+routers=[executor,step_evaluator]"
    strategy = parse_strategy(text)
    assert str(strategy) == text
    assert strategy.spec == text.partition("=")[2]
    assert parse_strategy(str(strategy)) == strategy


def test_slots_print_in_the_order_of_the_flow_whatever_order_they_were_written_in():
    assert str(parse_strategy("m=store=full+summarizer=untruncated")) == "m=summarizer=untruncated+store=full"


def test_a_named_strategy_equals_the_list_of_its_slots():
    assert parse_strategy("keep_all") == parse_strategy("keep_all=summarizer=untruncated+compactor=none")
    assert parse_strategy("recorded").plugins == {}
    assert parse_strategy("mine=") == Strategy("mine")


def test_routers_with_settings_may_be_in_a_list(tmp_path):
    (tmp_path / "mine.py").write_text(
        'def go(state, *, where: str = "x"):\n    return where\n\n\ngo.at = "end"\n\n\n'
        'def stay(state):\n    return "stay"\n\n\nstay.at = "end"\n'
    )
    strategy = compose("s", {"routers": ['mine.py:go:where="a,b"', "mine.py:stay"]}, tmp_path)
    again = parse_strategy(str(strategy), tmp_path)
    assert again == strategy
    assert [dict(plugin.arguments) for plugin in again.plugins["routers"]] == [{"where": "a,b"}, {}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a name is missing"),
        ("=store=full", "a name is missing"),
        ("keepall", "did you mean keep_all?"),
        ("m=stor=full", "did you mean store"),
        ("m=store", "nothing fills"),
        ("m=store=", "nothing fills"),
        ("m=store=full+store=full", "given twice"),
        ("m=store=[full,full]", "takes one spec, got 2"),
        ("m=store=ful", "did you mean full?"),
        ("m=compactor=openhands.sumarize", "did you mean openhands.summarize"),
        ("m=store=truncate:limt=3", "did you mean limit?"),
        ("m=store=truncate:limit=many", "limit=many"),
        ("m=summarizer=untruncated:limit=3", "it takes none"),
    ],
)
def test_the_error_quotes_the_mistake_in_a_strategy(text, says):
    with pytest.raises(SpecError) as caught:
        parse_strategy(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_error_names_a_slot_of_the_wrong_type():
    with pytest.raises(SpecError, match="must be a spec string, got int"):
        compose("m", {"store": [3]})


def test_a_router_with_a_wrong_decision_point_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text("def go(state):\n    return 'x'\n")
    with pytest.raises(SpecError, match=r"its `at` must be one of user_turn, .*, end"):
        compose("m", {"routers": "mine.py:go:at=some_time"}, tmp_path)
