"""The history of runs, and what scheduled runs decide from it: alarms against a baseline and against floors."""
