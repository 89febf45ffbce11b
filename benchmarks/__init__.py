"""What goldmeter costs, beside what everybody uses: `python -m benchmarks [section …]`, all of them by `make bench`."""
