"""Takes reports and numbers as they are now as the gold files: `python -m tests.accept_gold`. Read the diff before committing it."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Write every gold file anew, and remove those that nothing makes any more."""
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    import numbers_gold
    import readme_gold
    import reports_gold

    for gold in (reports_gold, numbers_gold):
        files = gold.current()
        for path in sorted(gold.GOLD.iterdir()):
            if path.name not in files:
                path.unlink()
                print(f"removed {path.name}")
        for name, text in files.items():
            path = gold.GOLD / name
            if not path.exists() or path.read_bytes() != text.encode():
                path.write_bytes(text.encode())
                print(f"accepted {name}")
    readme_gold.README.write_text(readme_gold.current(), encoding="utf-8")


if __name__ == "__main__":
    main()
