"""A client of servers that speak OpenAI's chat protocol: retries, concurrency limit, what each server can do."""
