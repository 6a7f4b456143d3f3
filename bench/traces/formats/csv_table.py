"""A table of comma-separated values as the one result of a tool, such as the type parameters that a Revit tool writes to a file."""

from __future__ import annotations

import csv

from ...model import ToolResult, Trace
from .. import Confidence, Document, Keeps, Traces, register, source_of
from ..tables import rows_of

_TYPE_TABLE = {"categoryName", "familyName", "typeName", "paramName", "value"}


@register("reader", "csv_table")
class CsvTable:
    """One trace a file with one result, `table`: the text of the file, and its rows as data, each cell typed as it is written.

    Only tables of Revit's type parameters are taken by themselves; any other CSV file is read where its format is named (`csv_table:x.csv`), as
    a table lying in a folder of traces need not be a result.

    Source: github.com/okuno-dsi/revit-mcp-toolkit, `Codex/Manuals/Runbooks/RUG` (type parameters with values); RFC 4180
    """

    keeps = Keeps(
        results="untruncated",
        also=(),
        never="everything but the table: such a file is one result",
        tested="type tables of revit-mcp-toolkit at cfddf0a, published files",
    )

    def sniff(self, document: Document) -> Confidence:
        columns = document.opening(10_000).partition("\n")[0].strip().split(",")
        return Confidence.CERTAIN if set(columns) >= _TYPE_TABLE else Confidence.NO

    def read(self, document: Document) -> Traces:
        text = document.text
        try:
            rows = rows_of(text)
        except (csv.Error, ValueError) as error:
            raise document.fail(f"no table of comma-separated values: {error}") from None
        result = ToolResult(index=0, call_id="table", function="table", full=text, data=rows)
        yield Trace(id="", source=source_of(document, "csv_table"), steps=(result,))
