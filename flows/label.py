"""Choose answers for people to label, with the width that their labels will give, and take the labels back."""

import sys

from goldmeter.labelling.command import main, parser

__all__ = ["main", "parser"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
