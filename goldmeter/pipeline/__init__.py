"""The project that a stage runs in: params.yaml, dvc.yaml, git, tables, validation, workers."""
