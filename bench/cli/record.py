"""`bench record`: servers on this machine that write down what an agent does, until they are interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.errors import BenchError
from .saying import say

if TYPE_CHECKING:
    from ..recording.servers import RecordingServer


@click.command()
@click.option(
    "--proxy", is_flag=True, help="Pass calls on to a model provider (OpenAI, Anthropic and alike) and record them."
)
@click.option(
    "--upstream", metavar="URL", help="The provider that --proxy passes calls on to, such as https://api.openai.com."
)
@click.option("--otlp", is_flag=True, help="Take OpenTelemetry spans over HTTP in JSON and record them.")
@click.option("-o", "--output", "output", required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="The log that grows (.jsonl); `bench import` and `bench run` read it.")  # fmt: skip
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="NAME",
    help="Where to listen; other machines only where you name one of their networks.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port (default: 8788 for --proxy, 4318 for --otlp; 0: any free one).",
)
@click.option("--no-redact", is_flag=True, help="Keep secrets in what is recorded; they are removed otherwise.")
def record(
    proxy: bool, upstream: str | None, otlp: bool, output: Path, host: str, port: int | None, no_redact: bool
) -> None:
    """Listen and record into a file until interrupted (Ctrl-C). Each call is written when it is over, so a crash loses none that was."""
    server = _server(proxy, upstream, otlp, output, host, port, not no_redact)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    say(f"recorded {server.recorded} into {output}; next: bench import {output} -o traces/{output.stem}.jsonl.gz")


def _server(
    proxy: bool, upstream: str | None, otlp: bool, output: Path, host: str, port: int | None, redact: bool
) -> RecordingServer:
    from ..recording.otlp import OtlpReceiver
    from ..recording.proxy import Proxy

    if proxy == otlp:
        wrong = "--proxy and --otlp record into one file each" if proxy else "nothing to record"
        raise BenchError(f"{wrong} — give --proxy with --upstream URL, or --otlp")
    if output.suffix != ".jsonl":
        raise BenchError(f"{output}: a recording grows line by line — give a name that ends in .jsonl")
    if otlp:
        if upstream is not None:
            raise BenchError("--upstream is where --proxy passes calls on to; --otlp has none")
        receiver = OtlpReceiver(output, host=host, port=4318 if port is None else port, redact=redact)
        say(f"listening: set OTEL_EXPORTER_OTLP_ENDPOINT={receiver.url} OTEL_EXPORTER_OTLP_PROTOCOL=http/json")
        return receiver
    if upstream is None:
        raise BenchError("--proxy needs --upstream URL, such as https://api.openai.com")
    passing = Proxy(upstream, output, host=host, port=8788 if port is None else port, redact=redact)
    say(
        f"listening: give the agent {passing.url} in place of {upstream} (OPENAI_BASE_URL={passing.url}/v1, ANTHROPIC_BASE_URL={passing.url})"
    )
    return passing
