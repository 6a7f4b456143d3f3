"""A second reading of published trace files, by plain JSON and text: how many messages, answers, calls and results, and the recorded usage.

It shares no code with `bench.traces`. What each format means was read off its files and its documentation anew. A count is a Counter of
`told` (messages of system and user), `answers` (of a model), `calls`, `results`, `prompt_tokens` and `completion_tokens`; where a format is
not counted so far, of what its reading says.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Count = Counter[str]


def full_text(path: Path) -> Any:
    """The file as one JSON value."""
    return json.loads(path.read_text(encoding="utf-8-sig"))


def lines(path: Path) -> list[Any]:
    """The file as JSON Lines, or as the list that it is."""
    text = path.read_text(encoding="utf-8-sig")
    return (
        json.loads(text)
        if text.lstrip().startswith("[")
        else [json.loads(line) for line in text.split("\n") if line.strip()]
    )


def tokens(usage: Any) -> Count:
    """The recorded usage of one answer. Anthropic counts cached tokens beside the input, everybody else in it."""
    if not usage:
        return Counter()
    if "prompt_tokens" in usage:
        made = usage.get("completion_tokens") or 0
        thought = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
        if usage["prompt_tokens"] + made + thought == usage.get("total_tokens"):
            made += thought  # xAI bills reasoning beside the completion
        return Counter(prompt_tokens=usage["prompt_tokens"], completion_tokens=made)
    beside = 0
    if "input_tokens_details" not in usage:
        beside = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
    return Counter(prompt_tokens=usage["input_tokens"] + beside, completion_tokens=usage["output_tokens"])


def chat(messages: Iterable[Any]) -> Count:
    """A chat in OpenAI's form."""
    count: Count = Counter()
    for message in messages:
        role = message["role"]
        if role in ("tool", "function"):
            count["results"] += 1
        elif role == "assistant":
            count["answers"] += 1
            count["calls"] += len(message.get("tool_calls") or ()) + bool(message.get("function_call"))
            count += tokens(message.get("usage"))
        else:
            count["told"] += 1
    return count


def tau_bench(path: Path) -> Count:
    """A list of runs with a chat each."""
    return sum((chat(run["traj"]) for run in full_text(path)), Counter())


def swe(path: Path) -> Count:
    """mini-swe-agent: chat messages with commands as calls or in fences, or the items of OpenAI's Responses; or SWE-agent."""
    held = full_text(path)
    if isinstance(held, dict) and "history" in held:
        return swe_agent(held)
    messages = held["messages"] if isinstance(held, dict) else held
    count: Count = Counter()
    for at, message in enumerate(messages):
        if "output" in message and message.get("type") != "function_call_output":
            calls = sum(item["type"] == "function_call" for item in message["output"])
            count += Counter(answers=1, calls=calls) + tokens(message.get("usage"))
        elif message.get("type") == "function_call_output" or message.get("role") == "tool":
            count["results"] += 1
        elif message["role"] == "assistant":
            calls = len(message.get("tool_calls") or ())
            if "tool_calls" not in message and at + 1 < len(messages):
                calls = fenced(message["content"])
            usage = message.get("extra", {}).get("response", {}).get("usage")
            count += Counter(answers=1, calls=calls) + tokens(usage)
        elif message["role"] == "user" and at and messages[at - 1]["role"] == "assistant":
            count["results"] += 1  # of the command in the text before; the last one has no `<returncode>`
        elif message["role"] != "exit":
            count["told"] += 1
    return count


def fenced(text: str) -> int:
    """The number of commands in fences, or after `execute:`."""
    return len(re.findall(r"```mswea_bash_command\n", text)) or len(re.findall(r"^execute:", text, re.MULTILINE))


def claude_code(path: Path) -> Count:
    """Session lines: one answer has one message id over several lines, its usage repeated; a user line holds results or a text."""
    answers: dict[str, Any] = {}
    count: Count = Counter()
    for line in lines(path):
        if line.get("type") not in ("user", "assistant"):
            continue
        content = line["message"]["content"]
        blocks = [{"type": "text"}] if isinstance(content, str) else content
        kinds = Counter(block["type"] for block in blocks)
        count["calls"] += kinds["tool_use"]
        count["results"] += kinds["tool_result"]
        if line["type"] == "user":
            count["told"] += bool(kinds["text"])
        else:
            answers[line["message"]["id"]] = max(
                answers.get(line["message"]["id"], {}),
                line["message"]["usage"],
                key=lambda usage: usage.get("output_tokens", -1),
            )
    count["answers"] += len(answers)
    return sum(map(tokens, answers.values()), count)


def openhands(path: Path) -> Count:
    """Events of the first agent: what the user says, what the agent does (a message is an answer without a call, ending is a call), and observations.

    An answer of the model is repeated in each event that came of it, with its usage. Or a logged completion, or the SDK's events.
    """
    held = None if path.suffix == ".jsonl" else full_text(path)
    if isinstance(held, dict):
        return openhands_completion(held)
    if isinstance(held, list) and any("kind" in event for event in held):
        return openhands_events(held)
    count: Count = Counter()
    used: dict[str, Any] = {}
    for event in lines(path):
        if "observation" in event:
            count["results"] += 1
        elif event["source"] == "user":
            count["told"] += 1
        else:
            count += Counter(answers=1, calls=event["action"] != "message")
        answer = (event.get("tool_call_metadata") or {}).get("model_response")
        used |= {answer["id"]: answer["usage"]} if answer else {}
    return sum(map(tokens, used.values()), count)


def openhands_completion(call: Any) -> Count:
    """One model call a file: a prompt and the answer; only the answer has its usage."""
    answer = call["response"]["choices"][0]["message"]
    return chat([*call["messages"], answer]) + tokens(call["response"]["usage"])


def openhands_events(events: list[Any]) -> Count:
    """Events of the SDK: a model's answer is a message, or the actions of one response; a result answers a call once."""
    kinds = Counter(event["kind"] for event in events)
    messages = [event["llm_message"] for event in events if event["kind"] == "MessageEvent"]
    spoken = sum(message["role"] == "assistant" for message in messages)
    actions = {event["llm_response_id"] for event in events if event["kind"] == "ActionEvent"}
    answering = ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent")
    answered = {event["tool_call_id"] for event in events if event["kind"] in answering}
    told = kinds["SystemPromptEvent"] + kinds["CondensationSummaryEvent"] + len(messages) - spoken
    own = actions | {event.get("llm_response_id") for event in events if event["kind"] == "MessageEvent"}
    metrics = [
        metrics
        for event in events
        if event["kind"] == "ConversationStateUpdateEvent" and event["key"] in ("full_state", "stats")
        for metrics in event["value"].get("stats", event["value"])["usage_to_metrics"].values()
    ]
    used = {usage["response_id"]: usage for each in metrics for usage in each["token_usages"]}
    count = Counter(answers=len(actions) + spoken, calls=kinds["ActionEvent"], results=len(answered), told=told)
    for name in ("prompt_tokens", "completion_tokens"):
        count[name] = sum(usage[name] for answer, usage in used.items() if answer in own)
    return count


def swe_agent(held: Any) -> Count:
    """The history: an answer's call is structured or its action, and what follows it is the result; that of the last is in `trajectory`."""
    count: Count = Counter()
    history = held["history"]
    for at, entry in enumerate(history):
        if entry["role"] == "assistant":
            count["answers"] += 1
            structured = len(entry.get("tool_calls") or ())
            count["calls"] += structured or bool(entry.get("action"))
        elif entry["role"] == "tool" or (
            at and history[at - 1]["role"] == "assistant" and history[at - 1].get("action")
        ):
            count["results"] += 1
        else:
            count["told"] += 1
    unseen = history[-1]["role"] == "assistant" and held["trajectory"][-1]["observation"] is not None
    return count + Counter(results=int(unseen))


def inspect_log(path: Path) -> Count:
    """Samples with events: an answer a model event (but those that grade), the tool messages of prompts as results."""
    count: Count = Counter()
    for sample in full_text(path)["samples"] or ():
        scorers = {
            event["id"] for event in sample["events"] if event["event"] == "span_begin" and event["type"] == "scorer"
        }
        calls = [event for event in sample["events"] if event["event"] == "model" and event["span_id"] not in scorers]
        for event in calls:
            output = event["output"]
            message = output["choices"][0]["message"]
            count += Counter(answers=1, calls=len(message.get("tool_calls") or ())) + tokens(output.get("usage"))
        messages = {message["id"]: message for event in calls for message in event["input"]}
        for message in messages.values():
            count["results"] += message["role"] == "tool"
            count["told"] += message["role"] in ("user", "system")
    return count


def http_cassette(path: Path) -> Count:
    """Recorded requests as YAML, by its text: each that was posted to a model is an answer; so is what the first one tells of an assistant."""
    interactions = path.read_text(encoding="utf-8").split("\n- request:")
    asked = [
        text for text in interactions if re.search(r"\n    uri: \S+/(chat/completions|responses|messages)\n", text)
    ]
    well = sum(re.search(r"\n      code: 200\n", text) is not None for text in asked)
    return Counter(answers=well + asked[0].partition("\n    uri:")[0].count('"role":"assistant"'))


def messages(path: Path) -> Count:
    """Chats of OpenAI's form; Anthropic's blocks; LangChain's messages by their type; the Responses interface is not counted."""
    held = lines(path) if path.suffix == ".jsonl" else full_text(path)
    chats = held if isinstance(held, list) and "messages" in held[0] else [held]
    count: Count = Counter()
    for one in chats:
        listed = one["messages"] if isinstance(one, dict) else one
        count["told"] += isinstance(one, dict) and bool(one.get("system"))
        for message in listed:
            typed = isinstance(message.get("content"), list) and "role" in message
            count += blocks(message) if typed else langchain(message)
    return +count


def blocks(message: Any) -> Count:
    """A message of typed blocks: a user's results, and one message where it says something beside them."""
    kinds = Counter(block["type"] for block in message["content"])
    results = sum(count for kind, count in kinds.items() if kind.endswith(("tool_result", "tool_output")))
    if message["role"] in ("assistant", "model"):
        calls = sum(count for kind, count in kinds.items() if kind.endswith(("tool_use", "tool_call")))
        return Counter(answers=1, calls=calls or len(message.get("tool_calls") or ()), results=results) + tokens(
            message.get("usage")
        )
    return Counter(results=results, told=int(results < kinds.total()))


def langchain(message: Any) -> Count:
    """A message of LangChain's in any dump, else one of Gemini's parts or of OpenAI's."""
    if "parts" in message:
        keys = Counter(key for part in message["parts"] for key in part)
        spoken = message["role"] == "model"
        told = int(not spoken and keys["text"] > 0)
        return Counter(answers=int(spoken), calls=keys["functionCall"], results=keys["functionResponse"], told=told)
    if "role" in message:
        return chat([message])
    kind = message["id"][-1] if "lc" in message else message["type"]
    fields = message.get("kwargs") or message.get("data") or message
    kind = kind.removesuffix("Message").lower()
    if kind == "ai":
        return Counter(answers=1, calls=len(fields.get("tool_calls") or ())) + tokens(
            fields.get("usage_metadata") and {**fields["usage_metadata"], "input_tokens_details": {}}
        )
    return Counter(results=int(kind == "tool"), told=int(kind in ("human", "system")))


def tau(path: Path) -> Count:
    """tau-bench's chats; of tau2's, what the agent and the user say."""
    held = full_text(path)
    if isinstance(held, list):
        return tau_bench(path)
    count: Count = Counter()
    for message in (message for run in held["simulations"] for message in run["messages"]):
        inner = message.get("tool_messages") or [message]
        count += chat(m for m in inner if m.get("requestor") != "user" and (m.get("content") or m["role"] != "user"))
    return Counter({key: count[key] for key in ("answers", "results", "prompt_tokens", "completion_tokens")})


def otel(path: Path) -> Count:
    """Calls of models among spans, by whichever attribute tells them, and their tokens."""
    text, count = path.read_text(encoding="utf-8"), Counter[str]()
    held = json.loads(text)
    spans = (
        held
        if isinstance(held, list)
        else [s for r in held["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
    )
    for span in spans:
        given = span["attributes"]
        if isinstance(given, list):
            given = {item["key"]: next(iter(item["value"].values()), None) for item in given}
        kind = str(
            given.get("openinference.span.kind")
            or given.get("ai.operationId")
            or given.get("gen_ai.operation.name")
            or given.get("llm.request.type")
        )
        if kind.lower() in ("llm", "chat", "call_llm") or kind.endswith("doGenerate"):
            count += Counter(answers=1)
            for name, keys in (
                ("prompt_tokens", ("gen_ai.usage.input_tokens", "llm.token_count.prompt")),
                ("completion_tokens", ("gen_ai.usage.output_tokens", "llm.token_count.completion")),
            ):
                count[name] += next((int(given[key]) for key in keys if key in given), 0)
    return +count


READINGS: dict[str, Callable[[Path], Count]] = {
    "messages": messages,
    "tau": tau,
    "otel": otel,
    "swe": swe,
    "claude_code": claude_code,
    "openhands": openhands,
    "inspect": inspect_log,
    "http": http_cassette,
}
"""The second reading of each format."""


PARTS = {"http": ("answers",), "otel": ("answers", "prompt_tokens", "completion_tokens"),
         "tau": ("answers", "results", "prompt_tokens", "completion_tokens")}  # fmt: skip
"""The compared counts of formats whose second reading does not count everything."""


def count_of(name: str, path: Path) -> Count | None:
    """The second reading of a file; None where there is none of its kind (binary, the Responses interface)."""
    if name not in READINGS or path.suffix in (".eval", ".sqlite", ".har") or "responses" in path.name:
        return None
    count = READINGS[name](path)
    return +Counter({key: count[key] for key in PARTS.get(name, tuple(count))})
