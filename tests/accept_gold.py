"""Takes the reports as they are now as the gold files: `python -m tests.accept_gold`. Read the diff before committing it."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Write every gold file anew, and remove those that nothing makes any more."""
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    from reports_gold import GOLD, current

    made = current()
    for path in sorted(GOLD.iterdir()):
        if path.name not in made:
            path.unlink()
            print(f"removed {path.name}")
    for name, text in made.items():
        path = GOLD / name
        if not path.exists() or path.read_bytes() != text.encode():
            path.write_bytes(text.encode())
            print(f"accepted {name}")


if __name__ == "__main__":
    main()
