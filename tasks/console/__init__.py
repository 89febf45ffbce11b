"""What people see in a terminal: output, formats, Markdown, arguments."""
