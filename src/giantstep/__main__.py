"""`python -m giantstep`."""

import sys

from giantstep.cli.main import main

sys.exit(main())
