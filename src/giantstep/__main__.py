"""`python -m giantstep`."""

import sys

from giantstep.cli import main

sys.exit(main())
