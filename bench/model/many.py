"""The cases and the rows of a comparison, held so that ten thousand cases need little more memory than a hundred."""

from __future__ import annotations

import zlib
from array import array
from collections import UserDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, overload

import msgspec

from .case import Case
from .score import Row

# ---------------------------------------------------------------- cases


class ByName(UserDict[str, Case]):
    """Cases by name. One that is abridged is held as bytes, and made anew whenever it is asked for."""

    data: dict[str, Any]

    def __setitem__(self, name: str, case: Case) -> None:
        try:
            self.data[name] = zlib.compress(msgspec.msgpack.encode(case), 1) if case.abridged else case
        except UnicodeEncodeError:  # it holds half a surrogate pair
            self.data[name] = case

    def __getitem__(self, name: str) -> Case:
        held = self.data[name]
        return held if isinstance(held, Case) else _CASE.decode(zlib.decompress(held))


_CASE = msgspec.msgpack.Decoder(Case)


class CaseList(Sequence[Case]):
    """Some cases in their order, also `by_name`."""

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self.by_name = ByName((case.id, case) for case in cases)

    @overload
    def __getitem__(self, at: int) -> Case: ...
    @overload
    def __getitem__(self, at: slice) -> list[Case]: ...
    def __getitem__(self, at: int | slice) -> Case | list[Case]:
        names = [*self.by_name][at]
        return self.by_name[names] if isinstance(names, str) else [self.by_name[name] for name in names]

    def __iter__(self) -> Iterator[Case]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CaseList) and [*self] == [*other]


# ---------------------------------------------------------------- rows

_N = TypeVar("_N", int, float)


class _Column(NamedTuple):
    """One metric of one strategy: by the place of a case, the code of what its row tells beside its value (0: no row), and the value.

    Neither array is longer than its last entry needs, so a metric with nothing to measure has no values.
    """

    unit: str
    codes: array[int]
    values: array[float]


class Columns(Collection[Row]):
    """Rows by strategy and metric as they were added, then by the name of the case. A Row is made anew whenever it is asked for.

    >>> row = Row(strategy="s", metric="m", case="b", value=2.0, unit="tokens", n=1.0)
    >>> rows = Columns([row, msgspec.structs.replace(row, case="a")])
    >>> rows.get("s", "m", "b") == row, rows.get("s", "m", "c"), [item.case for item in rows]
    (True, None, ['a', 'b'])
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._columns: dict[tuple[str, str], _Column] = {}
        self._places: dict[str, int] = {}
        self._codes: dict[tuple[Any, ...], int] = {(): 0}
        self._told: list[tuple[Any, ...]] = [()]
        self.add(rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Take more rows: the only change, as long as a comparison is being made."""
        for row in rows:
            place = self._places.setdefault(row.case or "", len(self._places))
            told = row.value is not None, row.n, row.reason, row.low, row.high, row.partly, row.marks
            code = self._codes.setdefault(told, len(self._told))
            if code == len(self._told):
                self._told.append(told)
            column = self._columns.get((row.strategy, row.metric))
            if column is None:
                column = self._columns[row.strategy, row.metric] = _Column(row.unit, array("I"), array("d"))
            _put(column.codes, place, code)
            if row.value is not None:
                _put(column.values, place, row.value)

    def get(self, strategy: str, metric: str, case: str) -> Row | None:
        """The row of one metric for one strategy and case; None where there is none."""
        column, place = self._columns.get((strategy, metric)), self._places.get(case)
        if column is None or place is None or place >= len(column.codes) or not column.codes[place]:
            return None
        measured, n, reason, low, high, partly, marks = self._told[column.codes[place]]
        return Row(
            strategy=strategy,
            metric=metric,
            case=case,
            value=column.values[place] if measured else None,
            unit=column.unit,
            n=n,
            reason=reason,
            low=low,
            high=high,
            partly=partly,
            marks=marks,
        )

    def by_column(self) -> Iterator[tuple[tuple[str, str], list[Row]]]:
        """Each strategy and metric with its rows; only those of one are made at a time."""
        return ((key, self.of(*key)) for key in self._columns)

    def of(self, strategy: str, metric: str) -> list[Row]:
        """The rows of one metric of one strategy by the name of the case."""
        found = (self.get(strategy, metric, case) for case in sorted(self._places))
        return [row for row in found if row is not None]

    def __iter__(self) -> Iterator[Row]:
        return (row for _, rows in self.by_column() for row in rows)

    def __len__(self) -> int:
        return sum(len(column.codes) - column.codes.count(0) for column in self._columns.values())

    def __contains__(self, row: object) -> bool:
        return isinstance(row, Row) and self.get(row.strategy, row.metric, row.case or "") == row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Columns) and [*self] == [*other]


def _put(column: array[_N], place: int, item: _N) -> None:
    """Set one entry; those before it that are not set are 0."""
    column.extend([0] * (place + 1 - len(column)))
    column[place] = item
