"""A comparison in Python and in notebooks: short, with its advice, and no name that is not there."""

from __future__ import annotations

import pytest

import bench
from bench.model import ModelTurn, Source, Trace, UserTurn
from bench.model.errors import BenchError
from bench.reports.notebook import Compared

ASKED = UserTurn(index=0, content="<b>list</b> the walls")


@pytest.fixture(scope="module")
def compared() -> Compared:
    steps = (ASKED, ModelTurn(index=1, content="36 walls"))
    return bench.compare(
        Trace(id="walls", source=Source(format="native"), steps=steps),
        {"<mask>": "compactor=mask_observations"},
        title="Walls",
        gates=[{"metric": "cost.prompt_tokens", "max": 1}],
    )


def test_it_prints_as_one_short_line(compared: Compared) -> None:
    assert repr(compared).startswith("<Comparison 'Walls': 1 strategy on 1 case. Keep what you run")
    assert len(repr(compared)) < 400
    assert "\n" not in repr(compared)


def test_a_notebook_shows_the_answer_and_the_table_and_runs_nothing(compared: Compared) -> None:
    page = compared._repr_html_()
    assert "What should I run?" in page
    assert page.count("<tr>") == 1 + len(compared.strategies) + 2
    assert "&lt;mask&gt;" in page
    assert "<mask>" not in page
    assert "<script" not in page


def test_the_advice_the_gates_and_a_case_are_at_hand(compared: Compared) -> None:
    assert (compared.advice.outcome, compared.advice.subject.strategy) == ("keep", "recorded")
    assert [verdict.outcome for verdict in compared.gates] == ["fail"]
    assert compared.case("walls").recording.calls == 1
    assert set(compared.to_frame()["case"]) == {"walls"}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("<masc>", "cost.prompt_tokens"), "no strategy is called '<masc>' — did you mean <mask>?"),
        (("<mask>", "cost.prompt_token"), "no metric is called 'cost.prompt_token' — did you mean cost.prompt_tokens"),
        (("<mask>", "cost.prompt_tokens", "wall"), "no case is called 'wall' — did you mean walls?"),
    ],
)
def test_a_name_that_does_not_exist_is_an_error_with_the_nearest(compared: Compared, names, said) -> None:
    with pytest.raises(BenchError) as caught:
        compared.value(*names)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (lambda found: found.advise, "no 'advise' — did you mean advice"),
        (lambda found: found.summary[0].valu, "no 'valu' — did you mean value"),
        (lambda found: found.advice.subject.savin, "no 'savin' — did you mean saving"),
    ],
)
def test_a_misspelled_attribute_names_the_nearest(compared: Compared, of, said) -> None:
    with pytest.raises(AttributeError, match=said):
        of(compared)
    assert not hasattr(compared, "_ipython_canary_method_")


def test_the_package_lists_its_verbs_and_knows_what_was_meant() -> None:
    assert {"compare", "load", "score"} <= set(dir(bench))
    with pytest.raises(AttributeError, match="did you mean compare"):
        _ = bench.compair
