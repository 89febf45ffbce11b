"""Client of servers with OpenAI's chat protocol: retries, concurrency limit, capabilities of each server."""
