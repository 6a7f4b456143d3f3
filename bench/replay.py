"""Moved to bench.replayer (a module may not share a verb name); removed before release."""

from .replayer import replay as replay
