"""Takes the reports and what is measured as they are now as the gold files: `python -m tests.accept_gold`. Read the diff before committing it."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Write every gold file anew, and remove those that nothing makes any more."""
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    import measured_gold
    import report_gold
    import reports_gold

    measured = {f"{group}.txt": measured_gold.current(group) for group in measured_gold.GROUPS}
    groups = (
        (report_gold.GOLD, report_gold.current()),
        (measured_gold.GOLD, measured),
        (reports_gold.GOLD, reports_gold.current()),
    )
    for folder, made in groups:
        folder.mkdir(exist_ok=True)
        for path in sorted(folder.iterdir()):
            if path.name not in made:
                path.unlink()
                print(f"removed {path.name}")
        for name, text in made.items():
            path = folder / name
            if not path.exists() or path.read_bytes() != text.encode():
                path.write_bytes(text.encode())
                print(f"accepted {name}")


if __name__ == "__main__":
    main()
