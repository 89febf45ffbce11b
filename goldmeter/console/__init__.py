"""Terminal output, number and text formats, Markdown, command-line parsers."""
