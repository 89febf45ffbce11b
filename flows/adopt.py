"""Find the logs of other tools in a folder, and test what each run claimed against the one before it."""

import sys

from goldmeter.project.adopt import main, parser

__all__ = ["main", "parser"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
