# The environment, and what is committed: `docker build --tag goldmeter .`, in a clone (not in a worktree).
# The bundled example: `docker run --rm goldmeter`. The tests: `docker build --target test --tag goldmeter-test .` and
# `docker run --rm goldmeter-test`.
FROM python:3.11-slim-bookworm AS setup
ENV PATH=/goldmeter/.venv/bin:$PATH PIP_NO_CACHE_DIR=1
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/* \
    # A mounted checkout belongs to another user than the container's.
    && git config --system --add safe.directory '*'
WORKDIR /goldmeter
COPY .git .git
RUN git reset --quiet --hard && make setup

FROM setup AS test
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/* \
    && make setup-dev
CMD ["make", "check", "test"]

FROM setup
CMD ["make", "run"]
