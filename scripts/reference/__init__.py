"""The reference in README and docs/, made from the code: Markdown that cog puts between its marks (`make docs`)."""
