"""``python -m trajdiff`` is the same program as ``trajdiff``."""

from __future__ import annotations

import sys

from trajdiff.cli import main

if __name__ == "__main__":
    sys.exit(main())
