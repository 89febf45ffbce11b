"""The command `goldmeter`: makes projects, and runs the commands of the project in the current folder."""
