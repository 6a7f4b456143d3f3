"""A comparison as Python and notebooks show it: a short text, a table with the advice, and errors that name what is near."""

from __future__ import annotations

from typing import Any

from ..comparison.advice import Advice, Candidate
from ..comparison.sure import Saving
from ..model import Case, Comparison, Delta, Row, Verdict
from ..model.errors import BenchError, nearest
from ..text.wording import counted
from . import build_blocks
from .answered import Answered
from .blocks import Beside, Block, Figures, Prose, Table
from .decision_sentence import advice_text
from .page_parts import shown


class Compared(Answered, frozen=True, kw_only=True, dict=True):
    """The answer of `bench.compare` and `bench.run_scenario`: a Comparison with its advice, whose names are checked.

    `advice` is what every report prints, `gates` are the verdicts, `case(id)` is one case, `to_frame()` all values.
    """

    @property
    def gates(self) -> tuple[Verdict, ...]:
        """The verdicts of the gates, in the order declared; none where no gate was."""
        return self.verdicts

    def case(self, name: str) -> Case:
        """Return one case. Raises BenchError with the nearest names where there is none."""
        if name not in self.by_case:
            raise BenchError(f"no case is called {name!r}{nearest(name, self.case_ids)}")
        return self.by_case[name]

    def row(self, strategy: str, metric: str, case: str | None = None) -> Row | None:
        """The row of one metric for one strategy and case (None: over all cases). Raises BenchError for a name that does not exist."""
        found = super().row(strategy, metric, case)
        if found is None:
            if strategy not in self.everyone:
                raise BenchError(f"no strategy is called {strategy!r}{nearest(strategy, self.everyone)}")
            if metric not in self.metrics:
                raise BenchError(f"no metric is called {metric!r}{nearest(metric, self.metrics)}")
            if case is not None:
                self.case(case)
        return found

    def __repr__(self) -> str:
        of = f"{counted(len(self.strategies), 'strategy', 'strategies')} on {counted(len(self.cases), 'case')}"
        return f"<Comparison {self.title or 'without a title'!r}: {of}. {advice_text(self)}>"

    def _repr_html_(self) -> str:
        """The three figures, the sentence and the table, for a notebook."""
        (panel,) = build_blocks(self, ["ranking"])
        return "".join(map(_html, panel.blocks))


def _misnamed(self: Any, name: str) -> Any:
    """Raise AttributeError with the nearest names. Names that tools ask for, with an underscore first, have none."""
    close = "" if name.startswith("_") else nearest(name, [known for known in dir(self) if not known.startswith("_")])
    raise AttributeError(f"{type(self).__name__} has no {name!r}{close}", name=name, obj=self)


_KINDS: tuple[Any, ...] = (Comparison, Case, Row, Delta, Verdict, Advice, Candidate, Saving)
for _kind in _KINDS:  # not in the classes: there it would hide misspellings from the type checker
    _kind.__getattr__ = _misnamed


def _html(block: Block) -> str:
    """A block without a style sheet; what a notebook has no room for is left out."""
    if isinstance(block, Beside):
        return "".join(map(_html, block.blocks))
    if isinstance(block, Prose):
        return f"<p>{shown(block.text)}</p>"
    if isinstance(block, Figures):
        heads = (
            f"<div><small>{shown(item.question)}</small><br><b>{shown(item.answer)}</b><br>{shown(' '.join(item.said))}</div>"
            for item in block.items
        )
        return f'<div style="display:flex;gap:1.5em">{"".join(heads)}</div>'
    if not isinstance(block, Table):
        return ""
    heads = (f"<th>{shown(column.title)}</th>" for column in block.columns)
    rows = ("".join(f"<td>{shown(cell.whole)}</td>" for cell in row) for row in block.rows)
    body = "".join(f"<tr>{row}</tr>" for row in ("".join(heads), *rows))
    return f"<table>{body}</table><small>{shown(block.caption)}</small>"
