#!/usr/bin/env python3
"""Reads the tree, then prints every change without a gap: across lost connections, restarts of the server and expired tokens.

It needs only Python 3.8 or newer and espalier_client.py. Stop it with Ctrl-C.

    ESPALIER_API_KEY=esp_… python3 examples/python/watch.py http://127.0.0.1:8080
    ESPALIER_PASSWORD=… python3 examples/python/watch.py http://127.0.0.1:8080 admin
"""

import os
import sys
import time
from typing import Any, Dict, Iterator

from espalier_client import EspalierClient, EspalierError

READ = "{ cursor folder { descendants { totalCount } } }"
CHANGES = """subscription ($after: String) {
  folderChanges(after: $after) { kind cursor folderId folder { path } by { username } } }"""


def read_tree(client: EspalierClient) -> str:
    """Read everything that you need, and return the cursor of the same response."""
    data = client.query(READ)
    print(f"There are {data['folder']['descendants']['totalCount']} folders.", flush=True)
    cursor: str = data["cursor"]
    return cursor


def changes_after(client: EspalierClient, cursor: str, retry_seconds: float = 1) -> Iterator[Dict[str, Any]]:
    """Yield every change after a cursor. After a lost connection, continues after the last change."""
    while True:
        try:
            for data in client.subscribe(CHANGES, {"after": cursor}):
                change = data["folderChanges"]
                yield change
                # Stored after the change was applied, so that no change is lost.
                cursor = change["cursor"]
        except EspalierError as error:
            if not can_retry(error):
                raise
        time.sleep(retry_seconds)


def can_retry(error: EspalierError) -> bool:
    """Whether the connection was lost, the server is busy, or the auth token of the stream has expired."""
    is_token_of_stream = error.status == 200 and error.code == "INVALID_AUTH_TOKEN"
    return error.status in (0, 502, 503, 504) or error.code == "UNAVAILABLE" or is_token_of_stream


def watch(client: EspalierClient) -> None:
    for change in changes_after(client, read_tree(client)):
        if change["kind"] == "RESYNC":
            # The server cannot list the changes, so read the tree again. Later changes follow after the cursor of RESYNC.
            read_tree(client)
            continue
        folder = change["folder"] or {"path": change["folderId"]}
        user = change["by"] or {"username": ""}
        print(change["kind"], folder["path"], user["username"], flush=True)


def main() -> int:
    if len(sys.argv) > 3:
        print("Usage: watch.py [url] [user name]", file=sys.stderr)
        return 2
    url, username = sys.argv[1:] + ["http://127.0.0.1:8080", "admin"][len(sys.argv) - 1 :]
    # Never pass a password or a key as an argument: every user of the machine can read it.
    api_key = os.environ.get("ESPALIER_API_KEY")
    password = os.environ.get("ESPALIER_PASSWORD")
    if not api_key and not password:
        print("watch.py: Set ESPALIER_API_KEY to an API key, or ESPALIER_PASSWORD to the password.", file=sys.stderr)
        return 1
    try:
        with EspalierClient(url, api_key=api_key) as client:
            if not api_key:
                client.login(username, password or "")
            watch(client)
    except EspalierError as error:
        print(f"watch.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
