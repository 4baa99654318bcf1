"""`python -m quia` is `quia`."""

import sys

from quia.cli import main

sys.exit(main())
