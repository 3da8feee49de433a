"""``python -m rlopt`` is the same as the command ``rlopt``."""

from __future__ import annotations

from rlopt.cli import main

if __name__ == "__main__":
    main()
