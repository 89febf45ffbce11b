"""Propose which column of your data is what, write it to params.yaml, load, and show what was understood."""

import sys

from flows.init.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
