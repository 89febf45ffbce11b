"""One scheduled run, in the schedule's worktree: `flows.schedule` starts it."""

import sys

from flows.evaluate import run_and_record
from goldmeter.serving.scheduled_run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], run_and_record))
