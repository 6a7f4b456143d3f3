"""What recording costs a call: `python benchmarks/recording.py` prints medians of a step of `bench.record` and of a call through the proxy."""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from served import Provider, serving

import bench
from bench.recording.proxy import Proxy

ROUNDS = 60
TEXT = "The wall wall_471 of level L1 is 12.5 m long and stands on the ground floor. "


def median_ms(work: Callable[[], object]) -> float:
    """The median of some rounds, in milliseconds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def asked(url: str, text: str) -> None:
    """One model call."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    body = {"model": "m-1", "messages": [{"role": "user", "content": text}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    connection.getresponse().read()
    connection.close()


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    result = (TEXT * 50)[:3800]
    for redact in (True, False):
        with bench.record(folder / f"run-{redact}.jsonl", redact=redact) as run:
            cost = median_ms(lambda run=run: run.result("f", result))  # type: ignore[misc]
            print(f"a step of {len(result):,} characters, redact={redact}: {cost:.2f} ms")
    with serving(Provider()) as provider, serving(Proxy(provider.url, folder / "log.jsonl")) as proxy:
        for size in (4_000, 100_000):
            text = (TEXT * (size // 40))[:size]
            straight = median_ms(lambda text=text: asked(provider.url, text))  # type: ignore[misc]
            through = median_ms(lambda text=text: asked(proxy.url, text))  # type: ignore[misc]
            print(f"a prompt of {size:,} characters through the proxy: {through - straight:.1f} ms more")


if __name__ == "__main__":
    main()
