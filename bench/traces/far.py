"""Files that lie elsewhere: whatever `fsspec` reaches (`s3://`, `gs://`, `https://`, `memory://`, …), as paths that the rest takes for files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PosixPath
from typing import Any

from ..files.limits import limit, raised
from ..model.errors import TraceError, one_line


class FarPath(PosixPath):
    """The path of a file that is read through `fsspec`. Two slashes of its address are one here."""

    @property
    def address(self) -> str:
        """The address."""
        kind, _, rest = str(self).partition(":/")
        return f"{kind}://{'/' if kind in ('file', 'memory') else ''}{rest}"

    def resolve(self, strict: bool = False) -> FarPath:
        """Itself: nobody follows links there."""
        return self

    def read_far(self) -> bytes:
        """The bytes. Raises OSError, also for more than the limit `size`."""
        most = limit("size")
        with _opened(self.address) as file:
            data: bytes = file.read(most + 1)
        if len(data) > most:
            raise OSError(0, f"has more than {most:,} bytes; {raised('size')}")
        return data


def is_far(path: str) -> bool:
    """True for an address."""
    return "://" in path


def far_files(address: str) -> Iterator[tuple[FarPath, str, bool]]:
    """The files of an address, a pattern or a folder there, sorted: each with its path below what was given, and True for one that was named.

    Raises TraceError where it cannot be listed.
    """
    try:
        import fsspec

        system, path = fsspec.core.url_to_fs(address)
        if fsspec.core.has_magic(path):
            fixed = path[: min(path.find(sign) for sign in "*?[" if sign in path)]
            found, top = system.glob(path), fixed.rpartition("/")[0]
        elif system.isdir(path):
            found, top = system.find(path), path
        else:
            yield FarPath(system.unstrip_protocol(path)), path.rpartition("/")[2], True
            return
    except ImportError as error:
        what = f"{address}: {one_line(error)}"
        raise TraceError(f"{what} — pip install 'agent-memory-bench[cluster]', and what fsspec asks for") from None
    except Exception as error:  # each kind of place has its own
        what = f"{address}: cannot be listed: {one_line(error)}"
        raise TraceError(f"{what} — check the address and your access") from None
    for name in sorted(found):
        below = name.removeprefix(top).lstrip("/")
        if not any(part.startswith(".") for part in below.split("/")):
            yield FarPath(system.unstrip_protocol(name)), below, False


def _opened(address: str) -> Any:
    import fsspec

    try:
        return fsspec.open(address, "rb").open()
    except OSError:
        raise
    except Exception as error:  # each kind of place has its own
        raise OSError(0, one_line(error)) from None
