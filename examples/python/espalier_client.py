#!/usr/bin/env python3
"""A small client for Espalier, with the standard library of Python 3.8 or newer and nothing else.

    with EspalierClient("http://127.0.0.1:8080") as client:
        client.login("admin", password)
        print(client.query("{ folder { name } }"))

Run as a program, it lists the folders inside a folder, asking for the password unless ESPALIER_PASSWORD has it:

    python3 espalier_client.py http://127.0.0.1:8080 admin /Places
"""

import getpass
import http.client
import json
import os
import sys
import threading
import time
from email.message import Message
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener


class EspalierError(Exception):
    """What the server refused, or why it could not be asked; `status` is 0 without an answer."""

    def __init__(self, message: str, status: int = 0, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _Answer(NamedTuple):
    status: int
    headers: Message
    body: Any


class _Tokens(NamedTuple):
    auth_token: str
    refresh_token: str
    refresh_at: float


class _NoRedirects(HTTPRedirectHandler):
    """urllib would take the tokens along to wherever it is sent."""

    def redirect_request(self, *_: Any) -> None:
        return None


class EspalierClient:
    """One session. Threads may share it. Nothing is stored: the tokens are in memory only."""

    def __init__(
        self, url: str, timeout_seconds: float = 30, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = url.rstrip("/")
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._opener = build_opener(_NoRedirects)
        self._tokens: Optional[_Tokens] = None
        self._refreshing = threading.Lock()

    def __enter__(self) -> "EspalierClient":
        return self

    def __exit__(self, kind: Optional[type], *_: object) -> None:
        try:
            self.logout()
        except EspalierError:
            # What went wrong before tells more.
            if kind is None:
                raise

    def login(self, username: str, password: str) -> None:
        self._keep(self._post("/login", {"username": username, "password": password}))

    def logout(self) -> None:
        """Ends the session, if there is one. The refresh token alone will do, also when the auth token has expired."""
        tokens, self._tokens = self._tokens, None
        if tokens:
            _require(self._post("/logout", {"refreshToken": tokens.refresh_token}), 204)

    def query(self, query: str, variables: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """The data of a query or a mutation. Refreshes early, and once more if the server says that it was too late."""
        tokens = self._current()
        if self._clock() >= tokens.refresh_at:
            tokens = self._refresh(tokens)
        body = {"query": query, "variables": variables}
        answer = self._post("/graphql", body, tokens)
        if answer.status == 401 and answer.headers.get("token-expired") == "true":
            answer = self._post("/graphql", body, self._refresh(tokens))
        _require(answer, 200)
        errors = answer.body.get("errors")
        if errors:
            raise EspalierError(errors[0]["message"], 200, errors[0].get("extensions", {}).get("code", ""))
        data: Dict[str, Any] = answer.body["data"]
        return data

    def refresh(self) -> None:
        """Exchanges the tokens for new ones. `query` does so by itself."""
        self._refresh(self._current())

    def _current(self) -> _Tokens:
        if not self._tokens:
            raise EspalierError("Not logged in.")
        return self._tokens

    def _refresh(self, used: _Tokens) -> _Tokens:
        # One at a time, and not for tokens that another thread has replaced: a refresh token can be exchanged once.
        with self._refreshing:
            tokens = self._current()
            if tokens is used:
                tokens = self._keep(self._post("/login/refresh", {"refreshToken": used.refresh_token}, used))
            return tokens

    def _keep(self, answer: _Answer) -> _Tokens:
        body = _require(answer, 200).body
        try:
            # After 80 % of its time, so that no request meets the end of the token.
            refresh_at = self._clock() + body["expires_in"] * 0.8
            self._tokens = _Tokens(body["authToken"], body["refreshToken"], refresh_at)
        except (KeyError, TypeError) as error:
            raise EspalierError(f"{self._url} is not an Espalier server.") from error
        return self._tokens

    def _post(self, path: str, body: Dict[str, Any], tokens: Optional[_Tokens] = None) -> _Answer:
        headers = {"Content-Type": "application/json"}
        if tokens:
            headers["Authorization"] = "Bearer " + tokens.auth_token
        try:
            request = Request(self._url + path, json.dumps(body).encode(), headers)
            try:
                response = self._opener.open(request, timeout=self._timeout_seconds)
            except HTTPError as refusal:
                response = refusal
            with response:
                text = response.read()
            return _Answer(response.code, response.headers, json.loads(text) if text else None)
        except (OSError, http.client.HTTPException) as error:
            raise EspalierError(
                f"{self._url} cannot be reached: {getattr(error, 'reason', error)}"
            ) from error
        except ValueError as error:
            raise EspalierError(f"{self._url} is not an Espalier server: {error}") from error


def _require(answer: _Answer, status: int) -> _Answer:
    """Refusals are problem+json (RFC 9457), those of /graphql are GraphQL errors."""
    body = answer.body if isinstance(answer.body, dict) else {}
    if answer.status == status and (body or status == 204):
        return answer
    error = (body.get("errors") or [{}])[0]
    reason = (
        body.get("detail") or error.get("message") or f"The server answered {answer.status}. Is it Espalier?"
    )
    code = body.get("code") or error.get("extensions", {}).get("code", "")
    raise EspalierError(reason, answer.status, code)


def folders_in(client: EspalierClient, path: str) -> Iterator[Dict[str, Any]]:
    """Page by page, as they are asked for."""
    query = """query ($path: String, $after: String) {
      folder(path: $path) {
        folders(first: 100, after: $after) { items { id name path } pageInfo { hasNextPage endCursor } } } }"""
    after = None
    while True:
        folder = client.query(query, {"path": path, "after": after})["folder"]
        if folder is None:
            raise EspalierError(f"There is no folder {path}, or you may not see it.")
        yield from folder["folders"]["items"]
        page = folder["folders"]["pageInfo"]
        if not page["hasNextPage"]:
            return
        after = page["endCursor"]


def main() -> int:
    if len(sys.argv) > 4:
        print("Usage: espalier_client.py [url] [user name] [path of a folder]", file=sys.stderr)
        return 2
    url, username, path = sys.argv[1:] + ["http://127.0.0.1:8080", "admin", "/"][len(sys.argv) - 1 :]
    try:
        password = os.environ.get("ESPALIER_PASSWORD") or getpass.getpass(f"Password of {username}: ")
        with EspalierClient(url) as client:
            client.login(username, password)
            for folder in folders_in(client, path):
                print(folder["path"])
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has had enough. Python flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (EspalierError, EOFError) as error:
        print(f"espalier_client.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
