"""``python -m fuzz``, with ``tests`` on the path; see `fuzz.campaign`."""

import sys

from fuzz.campaign import main

if __name__ == "__main__":
    sys.exit(main())
