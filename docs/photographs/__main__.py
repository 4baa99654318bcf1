"""`python docs/photographs [NAME …]`: take pictures anew, all if none is named."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this folder's own, docs/
sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "tests"))  # the notebooks that tests open

from photographs.album import main

if __name__ == "__main__":
    sys.exit(main())
