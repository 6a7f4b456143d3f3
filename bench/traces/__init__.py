"""Reading traces: what a reader is made of, and how traces are loaded.

A reader is one small file in `formats/` with a class registered as `@register("reader", NAME)`. It
says by the content whether a file has its format, and returns the runs, or raises TraceError with
file, line and path. What it does not understand it counts in `Trace.left_out`. It says where
messages, calls or a tree of spans stand, which `intakes/` reads; a session log adds its own steps
(`steps.py`). The interface of a reader is imported from here.
"""

from ..plugins.registry import register as register
from .documents import Document as Document
from .loading import Loaded as Loaded, Paths as Paths, TraceSource as TraceSource, load as load
from .paths import case_id as case_id
from .reader import (
    Confidence as Confidence,
    NoRun as NoRun,
    PartOf as PartOf,
    Reader as Reader,
    Traces as Traces,
    pieces_of as pieces_of,
    source_of as source_of,
)
from .values import Fields as Fields
