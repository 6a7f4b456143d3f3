"""Document 003, "RAP agent architecture": counts, approval, plans, and the choice of a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any

import msgspec

from ...model import Approval, ModelTurn, ToolResult, UserTurn, compact_json
from ...plugins.registry import register
from ...text.common_words import FUNCTION_WORDS
from ...text.scripts import NONE, Script, scripts_of, words_of_name
from ..settings import Count
from . import Noise, current_step_index, is_critical, planned_steps, script_output


@register("summarizer", "count_only")
def count_only(
    result: ToolResult, *, max_rows: Count = 5, max_lines: Count = 5, noise: Noise = "status"
) -> Any:
    """The number of rows or console lines alone, under the conditions of `table_console`.

    None where those are not met.

    Source: 003 §4.1

    >>> table = {"structured_output": [{"type": "table", "data": "[1,2,3,4,5,6]"}]}
    >>> count_only(ToolResult(index=0, call_id="a", function="f", data=table))
    {'type': 'table', 'row_count': 6}
    """
    output = script_output(result)
    rows, lines = output.rows(more_than=max_rows), output.without(noise)
    if rows is not None:
        return {"type": "table", "row_count": len(rows)}
    return {"type": "console", "line_count": len(lines)} if len(lines) > max_lines else None


RUN_SCRIPT = "run_script_by_name"
GET_PARAMETERS = "get_script_parameters_tool"


@register("router", "agent_turn", at="after_model")
def agent_turn(state: Mapping[str, Any]) -> str:
    """The node after the agent's turn: approval, parameters, tools, an action, or `respond`.

    A call to run a script asks first, whatever else the turn calls; a call for a script's
    parameters has its own node; any other call goes to `tools`. Without a call, a pending
    `next_conversational_action` names the node. A missing model turn counts as one without calls.

    Source: 003 §3.2, §3.3

    >>> agent_turn({"next_conversational_action": "summarize_results"}), agent_turn({})
    ('summarize_results', 'respond')
    """
    step = state.get("step")
    called = {call.name for call in step.tool_calls} if isinstance(step, ModelTurn) else set()
    if RUN_SCRIPT in called:
        return "approval"
    if called:
        return "get_parameters" if GET_PARAMETERS in called else "tools"
    pending = state.get("next_conversational_action")
    return pending if isinstance(pending, str) and pending else "respond"


@register("router", "approval", at="approval")
def approval(state: Mapping[str, Any]) -> str:
    """`execute` after a person's yes, `agent` after a no: nothing is executed then.

    Only an approval event leads to execution: any other step is `agent`.

    Source: 003 §1 "Human-in-the-Loop", §3.2 `run_script_by_name`

    >>> approval({"step": Approval(index=3, call_id="c1", approved=False)})
    'agent'
    """
    step = state.get("step")
    return "execute" if isinstance(step, Approval) and step.approved else "agent"


@register("router", "plan", at="after_evaluation")
def plan(state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The next move of a plan after a step: `process_summary`, `continue`, `complete` or `abort`.

    The steps of `multi_step_plan` (else of `execution_plan`) run in order. A step that left a
    summary has that processed before the next starts; the detail says what comes `then`. A failed
    step goes where the step evaluator sends it. An empty state is `complete`.

    Source: 003 §5.1, 004 §4.2

    >>> steps = ["Foundation.cs", "Columns.cs"]
    >>> plan({"multi_step_plan": steps, "current_step_index": 1, "execution_history": [{"success": True}]})
    ('continue', {'next': 'Columns.cs', 'number': 1})
    """
    planned, done = state.get("multi_step_plan"), current_step_index(state)
    steps = planned if isinstance(planned, list | tuple) else planned_steps(state)
    then = "complete" if done >= len(steps) else "continue"
    detail = (
        {} if then == "complete" else {"next": _name(steps[max(done, 0)]), "number": max(done, 0)}
    )
    executed = state.get("execution_history")
    last = executed[-1] if executed else None
    if isinstance(last, Mapping) and not last.get("success", True):
        return ("abort", {}) if is_critical(state) else (then, detail)
    if last is not None and state.get("execution_summary") is not None:
        return "process_summary", {"then": then, **detail}
    return then, detail


def _name(step: Any) -> Any:
    """The name in a step of a plan; the step itself where it has none."""
    if not isinstance(step, Mapping):
        return step
    keys = ("script_name", "script", "function_name", "name")
    return next((step[key] for key in keys if step.get(key)), step)


# ---------------------------------------------------------------- the choice of a script


NAME_WEIGHT, DESCRIPTION_WEIGHT = 3, 2
"""The weights of the words of a name and of a description; others count once."""

PIECE_CHARS = 4
K1, B = 1.5, 0.75
"""BM25's saturation and length correction, as bm25s sets them."""

ACTIONS = {
    "create": "create add build draw generate insert make new place produce put start write",
    "modify": "modify adjust alter change configure edit enlarge extend move rename replace resize"
    " rotate set update",
    "delete": "delete cancel clear drop erase remove",
    "list": "list browse count describe display fetch find get give how look lookup obtain query"
    " read retrieve search see show tell what when where which who",
    "check": "check detect inspect test validate verify",
    "calculate": "calculate compute convert determine estimate evaluate measure predict solve",
    "book": "book buy order pay purchase reserve schedule",
    "export": "export copy download print save send share",
    "play": "play listen watch",
    "tag": "tag annotate label mark",
    "run": "run execute refresh reload",
}
"""The operations that a request may ask for, and the words that name each."""


_ENDINGS = (("", ""), ("", "s"), ("", "es"), ("e", "ed"), ("e", "ing"))
_ACTION_OF = {
    f"{verb.removesuffix(end)}{ending}": action
    for action, verbs in ACTIONS.items()
    for verb in verbs.split()
    for end, ending in _ENDINGS
}


def _request(state: Mapping[str, Any]) -> str:
    """The request to choose a script for: the user turn's text; `""` for any other step."""
    step = state.get("step")
    return step.content if isinstance(step, UserTurn) else ""


def _selection(ranked: Sequence[Script]) -> tuple[str, dict[str, Any]]:
    """A selection router's answer: the first script's name or `none`, and all names as detail."""
    names = [script.name for script in ranked]
    return (names[0] if names else NONE), {"ranked": names}


def _most_shared(
    asked: set[str], scripts: Sequence[Script], words: Callable[[Script], set[str]]
) -> tuple[str, dict[str, Any]]:
    """The selection of the scripts that share words with the request, most shared words first."""
    shared = {script.name: len(asked & words(script)) for script in scripts}
    return _selection(
        sorted((item for item in scripts if shared[item.name]), key=lambda item: -shared[item.name])
    )


@register("router", "select_script.keyword", at="user_turn")
def keyword(state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Every script that shares a word with the request, most shared words first.

    Plain overlap with name and description: no word is left out, none is shortened, and the action
    that is asked for counts like any other word, so a request to create a wall also gives every
    script that mentions one. Ties keep the manifest's order. The route is the first script's name,
    `none` where nothing overlaps.

    Source: 003 §3.2 (legacy), §4.2 "Problem"

    >>> from bench.model import UserTurn
    >>> manifest = [{"name": "Delete_Door"}, {"name": "Make_Wall"}]
    >>> keyword({"step": UserTurn(index=0, content="make a wall"), "manifest": manifest})
    ('Make_Wall', {'ranked': ['Make_Wall']})
    """
    asked = set(words_of_name(_request(state)))
    scripts = scripts_of(state.get("manifest"))
    return _most_shared(
        asked, scripts, lambda item: set(words_of_name(f"{item.name} {item.description}"))
    )


@register("router", "select_script.action", at="user_turn")
def action(state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The scripts with the request's action, most shared objects first.

    The action of a text is that of its first word that names one; a script's is that of its name,
    else of its description. Objects are the other words, plurals folded, function words left out. A
    request without an action is matched by its objects alone. Ties keep the manifest's order. The
    route is the first script's name, `none` where nothing fits.

    Source: 003 §4.2 "Immediate Action"

    >>> from bench.model import UserTurn
    >>> manifest = [{"name": "WallParameters.cs", "description": "Lists all parameters of the first wall."},
    ...     {"name": "Create_Wall.cs", "description": "Creates a wall."}]
    >>> action({"step": UserTurn(index=0, content="create walls"), "manifest": manifest})
    ('Create_Wall.cs', {'ranked': ['Create_Wall.cs']})
    """
    request = words_of_name(_request(state))
    wanted, scripts = _action(request), scripts_of(state.get("manifest"))

    def action_of(script: Script) -> str | None:
        texts = script.name, script.description
        actions = (_action(words_of_name(text)) for text in texts)
        return next(filter(None, actions), None)

    fitting = [item for item in scripts if wanted in (None, action_of(item))]

    def objects(script: Script) -> set[str]:
        return _objects(
            words_of_name(" ".join((script.name, script.description, *script.examples)))
        )

    return _most_shared(_objects(request), fitting, objects)


def _action(words: Iterable[str]) -> str | None:
    return next((_ACTION_OF[word] for word in words if word in _ACTION_OF), None)


def _objects(words: Iterable[str]) -> set[str]:
    objects = {word for word in words if word not in _ACTION_OF and word not in FUNCTION_WORDS}
    return {
        word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word
        for word in objects
    }


@register("router", "select_script.semantic", at="user_turn")
class Semantic:
    """The `top` scripts nearest to the request by BM25 over the whole manifest entry, best first.

    Names count three times, descriptions twice, examples, parameters and categories once; compound
    names are taken apart, function words left out. Each word is matched by its pieces of four
    characters, its beginning and end among them: inflections and misspellings match for the most
    part, in any language that sets its words apart, with no list of endings. The route is the first
    script's name, `none` where nothing matches.

    Source: 003 §4.2 "Long-Term Goal"

    >>> from bench.model import UserTurn
    >>> manifest = [{"name": "WallParameters.cs", "description": "Lists all parameters of the first wall."},
    ...     {"name": "Create_Wall.cs", "description": "Creates a wall."}]
    >>> Semantic(top=1).decide({"step": UserTurn(index=0, content="please creat some walls"), "manifest": manifest})
    ('Create_Wall.cs', {'ranked': ['Create_Wall.cs']})
    """

    def __init__(self, *, top: Annotated[int, msgspec.Meta(ge=1)] = 3) -> None:
        self.top = top

    def decide(self, state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The best script for the request, and the `top` best as detail."""
        scripts, index = _manifest_index(compact_json(state.get("manifest")))
        asked = list(dict.fromkeys(_pieces(_request(state))))
        if index is None or not asked:
            return _selection([])
        scores = index.get_scores(asked).tolist()
        ranked = sorted(
            (place for place, score in enumerate(scores) if score > 0),
            key=lambda place: -scores[place],
        )
        return _selection([scripts[place] for place in ranked[: self.top]])


@lru_cache(maxsize=8)
def _manifest_index(manifest: str) -> tuple[tuple[Script, ...], Any]:
    """The scripts of a manifest (JSON) and their index; None if no script has any words."""
    scripts = tuple(scripts_of(json.loads(manifest)))
    documents = list(map(_document, scripts))
    if not any(documents):
        return scripts, None
    import bm25s

    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.index(documents, show_progress=False)
    return scripts, index


def _document(script: Script) -> list[str]:
    """The words to index a script by; those of its name and description are repeated as weights."""
    rest = " ".join((*script.examples, *script.parameters, *script.categories))
    return (
        _pieces(script.name) * NAME_WEIGHT
        + _pieces(script.description) * DESCRIPTION_WEIGHT
        + _pieces(rest)
    )


def _pieces(text: str) -> list[str]:
    """The words of a text in overlapping pieces, with `^` before a word and `$` after it."""
    framed = [f"^{word}$" for word in words_of_name(text) if word not in FUNCTION_WORDS]
    return [
        word[start : start + PIECE_CHARS]
        for word in framed
        for start in range(max(1, len(word) - PIECE_CHARS + 1))
    ]
