"""`python -m giantstep` is the command `giantstep`."""

import sys

from giantstep.cli.main import main

sys.exit(main())
