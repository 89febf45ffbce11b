"""Projects: the files that `goldmeter init` writes, and what `goldmeter upgrade` makes of them."""
