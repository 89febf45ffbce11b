"""Serve the offline judge to other tools, on loopback, as a decision model and as a chat model."""

import sys

from goldmeter.serving.served_judge import main, parser

__all__ = ["main", "parser"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
