"""Propose which column of your data is what, write it to params.yaml, load, and show the result."""

import sys

from goldmeter.dataset.proposal.command import main, parser

__all__ = ["main", "parser"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
