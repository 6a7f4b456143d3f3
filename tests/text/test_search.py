"""Many facts of one text: what reads it once finds what looking for each from the beginning finds."""

from __future__ import annotations

from bench.text.found_leaves import TokensOf
from hypothesis import given, strategies as st

from bench.evidence.oracle import Bundle, Future, Need
from bench.strategies.documents import clairvoyant
from bench.text.facts import anchor, flat, places_of, words_of
from bench.text.search import Strings, first_places
from bench.text.texts import FactsHeld, Texts, longer_holding

PIECES = st.sampled_from(
    ["a", "B", "ab", "run_7", "7", "12", "1.5", "1,250", "x1", "é", "ſ", "K", "k", "s", "ı", "İ", "i", "ß", "ss", "/", "/a", "-", ".", ",", " ", " ",
     "\n", "\n\n", "a/b", "=", "10.0.1", "1e3", "1000", "\\", "{", "\ud800", "\udc00", "\ufffd"]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=40).map("".join)
FACT = st.lists(PIECES, min_size=1, max_size=5).map("".join).filter(words_of)
FACTS = st.lists(FACT, max_size=6)


@given(text=TEXT, facts=FACTS)
def test_places_and_facts_are_those_of_looking_for_each_from_the_beginning(text, facts) -> None:
    facts += ["1250", "7", "1.5", "k s", "i ss"]
    assert first_places(text, facts) == {
        fact: place for fact in facts if (place := next(places_of(text, fact), None)) is not None
    }
    assert sorted(Strings(facts).places(text)) == sorted(
        (fact, at) for fact in set(facts) for at in range(len(text)) if occurs_whole(text, fact, at)
    )
    assert set(FactsHeld(facts, Texts())(text)) == {fact for fact in facts if Texts().holds(text, fact)}
    assert Texts().missing(text, facts) == [fact for fact in facts if not Texts().holds(text, fact)]


def occurs_whole(text: str, fact: str, at: int) -> bool:
    before, after = text[:at], text[at + len(fact) :]
    if not text.startswith(fact, at):
        return False
    word = (fact[0].isalnum() or fact[0] == "_") and (before[-1:].isalnum() or before[-1:] == "_")
    word |= (fact[-1].isalnum() or fact[-1] == "_") and (after[:1].isalnum() or after[:1] == "_")
    number = fact[0].isdigit() and before[-1:] == "." and before[-2:-1].isdigit()
    return not (word or number or (fact[-1].isdigit() and after[:1] == "." and after[1:2].isdigit()))


@given(text=TEXT, tokens=FACTS)
def test_tokens_count_as_often_as_they_occur_whole(text, tokens) -> None:
    plain, slow = Texts().plain(text), []
    for token in dict.fromkeys(tokens):
        at = 0
        while at < len(plain):
            here = occurs_whole(plain, token, at)
            slow += [token] * here
            at += len(token) if here else 1
    assert sorted(TokensOf(tokens)(text)) == sorted(slow)


@given(facts=st.lists(FACT.map(str.strip), max_size=12, unique=True).map(tuple))
def test_facts_that_others_hold_are_those_of_holding_each_against_each(facts) -> None:
    """A fact is left out where a longer one holds it that has its longest word."""
    longer, texts = longer_holding(facts, FactsHeld(facts, Texts())), Texts()
    assert [fact for fact in facts if not longer[fact]] == [
        fact
        for fact in facts
        if not any(
            len(other) > len(fact) and flat(anchor(fact)).strip() in flat(other).split() and texts.holds(other, fact)
            for other in facts
        )
    ]


@given(st.lists(st.sampled_from(["n 471", "471 472", "\n", "472", "473\n474", "\n473"]), max_size=8).map(" ".join))
def test_lines_are_given_up_with_every_need_that_stands_in_them(text) -> None:
    facts = ("471", "472", "473", "474", "471 472", "475")
    needs = tuple(Need("main", fact, "result", 2, 9, 1 + len(fact), 1) for fact in facts)
    asked: list[Bundle] = []
    given_up = clairvoyant.given_up
    clairvoyant.given_up = lambda needs, recall, bundles: asked.extend(bundles(needs)) or frozenset()
    try:
        clairvoyant.lines_given_up(Future.of(needs, {2: text}), 0.5, len)
    finally:
        clairvoyant.given_up = given_up
    spans = {need: clairvoyant.spans_of(text, {need.fact: need.last}) for need in needs}
    slow = []
    for start, end in clairvoyant.merged([span[:2] for places in spans.values() for span in places]):
        inside = tuple(need for need in needs if any(start <= span[0] < end for span in spans[need]))
        slow.append(Bundle(inside, (end - start) * max(need.prompts for need in inside)))
    assert asked == slow
