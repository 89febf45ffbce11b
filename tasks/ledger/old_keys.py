"""Entries from before keys held a server's address: each store records once which server they are taken to be of."""

import json
from contextlib import suppress
from pathlib import Path

from tasks.errors import LedgerError
from tasks.pipeline.files import replacing, to_json

FILE = "old_servers.json"


def owner(store: Path, server_class: str, claimed: str) -> str:
    """Return the address of the server that the store's old entries of this class are of.

    The first call for a class records `claimed`, so that an address that is configured later can't take them over.

    Args:
        store: The folder of the store.
        server_class: Class of the server, which is part of the old keys.
        claimed: Address at the last run before this version of goldmeter, else the present one.

    Raises:
        LedgerError: The record can't be read or written.
    """
    path, owners = store / FILE, dict[str, str]()
    try:
        with suppress(FileNotFoundError):
            owners = dict(json.loads(path.read_text(encoding="utf-8")))
        if server_class not in owners:
            owners[server_class] = claimed
            with replacing(path) as temporary:
                temporary.write_text(to_json(owners), encoding="utf-8")
    except (OSError, ValueError) as error:
        raise LedgerError(f"{path}: can't be used: {error}; remove it") from None
    return owners[server_class]
