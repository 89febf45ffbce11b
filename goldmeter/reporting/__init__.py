"""What people read: the page with its charts and notable rows, the tables of `dvc plots`, and the summary of a run."""
