"""Records as columns: by kernels, what `tasks.dataset.table` makes record by record; odd records are left to it."""
