"""A callback that records runs of LangChain and LangGraph: each model call, tool and decision is a line when it is over."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import BenchError
from .lines import Lines
from .redaction import Redactor

if TYPE_CHECKING:
    from types import TracebackType

_NEEDS = "recording LangChain needs the extra bench[langchain] — pip install langchain-core"


def langchain_recorder(path: str | Path, *, redact: bool = True) -> Any:
    """A callback handler, and a context manager: `with langchain_recorder("runs/a.jsonl") as handler`, then `config={"callbacks": [handler]}`.

    The file has a run a line in the form of LangSmith's, which the reader `langsmith` reads; several invocations give several traces. Of the
    states of a graph only what its conditional edges decided is kept: messages are those of the model calls. A crash loses no run that was
    over. Secrets are removed unless `redact=False`. Raises BenchError without langchain-core, or for a file that holds something already.

    Source: langchain-core 1.7.2, langchain_core/tracers/base.py (BaseTracer); docs.langchain.com/langsmith/run-data-format
    """
    try:
        base = import_module("langchain_core.tracers.base").BaseTracer
        as_dumped = import_module("langchain_core.load.dump").default
    except ImportError:
        raise BenchError(_NEEDS) from None
    redactor = Redactor() if redact else None
    lines = Lines(Path(path), new=True)

    class Handler(base):  # type: ignore[misc, valid-type]
        """Writes each run when it ends. Nested runs end before the ones that they are part of."""

        def __init__(self) -> None:
            super().__init__(_schema_format="original+chat")

        def __enter__(self) -> Handler:
            return self

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            self.close()

        def close(self) -> None:
            lines.close()

        def _persist_run(self, run: Any) -> None:
            """Nothing: every run was written when it ended."""

        def _on_run_update(self, run: Any) -> None:
            line = json.loads(json.dumps(_told(run), default=as_dumped), parse_constant=lambda name: None)
            line = line if redactor is None else redactor.value(line)
            lines.append(json.dumps(line, separators=(",", ":")).encode())

    return Handler()


def _told(run: Any) -> dict[str, Any]:
    """Return what is written of a run: all of a model's or a tool's run, of a chain its decision."""
    inputs, outputs = run.inputs or {}, run.outputs
    if run.run_type == "chain":
        decided = outputs.get("output") if isinstance(outputs, dict) and len(outputs) == 1 else None
        names = decided if isinstance(decided, list) else [decided]
        inputs, outputs = {}, {"output": decided} if all(isinstance(name, str) for name in names) else None
    return {
        "id": str(run.id),
        "trace_id": str(run.trace_id),
        "parent_run_id": str(run.parent_run_id) if run.parent_run_id else None,
        "name": run.name,
        "run_type": "llm" if run.run_type == "chat_model" else run.run_type,
        "start_time": run.start_time.isoformat(),
        "end_time": run.end_time.isoformat() if run.end_time else None,
        "inputs": inputs,
        "outputs": outputs,
        "error": run.error,
        "tags": run.tags or [],
        "extra": {
            key: value
            for key, value in (run.extra or {}).items()
            if key in ("metadata", "invocation_params", "tool_call_id")
        },
    }
