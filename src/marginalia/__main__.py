"""`python -m marginalia`."""

import sys

from marginalia.cli import main

if __name__ == "__main__":
    sys.exit(main())
