"""What people read: the numbers of a run, the page with its charts, the tables of `dvc plots`, and the summary."""
