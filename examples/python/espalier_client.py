#!/usr/bin/env python3
"""A small client for Espalier that needs only the standard library of Python 3.8 or newer.

    with EspalierClient("http://127.0.0.1:8080") as client:
        client.login("admin", password)
        print(client.query("{ folder { name } }"))

A program with an API key needs no login: EspalierClient(url, api_key=os.environ["ESPALIER_API_KEY"]).

As a program, it lists the subfolders of a folder. It asks for the password unless ESPALIER_PASSWORD or ESPALIER_API_KEY is set:

    python3 espalier_client.py http://127.0.0.1:8080 admin /Places

watch.py uses the same class to follow changes.
"""

import getpass
import http.client
import json
import math
import os
import sys
import threading
import time
from email.message import Message
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener


class EspalierError(Exception):
    """An error response, or a failed request. `status` is 0 if there was no response."""

    def __init__(self, message: str, status: int = 0, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _Response(NamedTuple):
    status: int
    headers: Message
    body: Any


class _Tokens(NamedTuple):
    auth_token: str
    refresh_token: str
    refresh_at: float


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirects, because urllib would send the tokens to the other server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class EspalierClient:
    """A client with one session or an API key, which threads can share. It keeps the tokens only in memory."""

    def __init__(
        self,
        url: str,
        timeout_seconds: float = 30,
        clock: Callable[[], float] = time.monotonic,
        api_key: Optional[str] = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._opener = build_opener(_NoRedirects)
        # An API key is sent like an auth token. It needs no refresh.
        self._tokens = _Tokens(api_key.strip(), "", math.inf) if api_key else None
        self._refreshing = threading.Lock()

    def __enter__(self) -> "EspalierClient":
        return self

    def __exit__(self, kind: Optional[type], *_: object) -> None:
        try:
            self.logout()
        except EspalierError:
            # An earlier error is more important than this one.
            if kind is None:
                raise

    def login(self, username: str, password: str) -> None:
        """Log in. The password is not stored."""
        self._store_tokens(self._post("/login", {"username": username, "password": password}))

    def logout(self) -> None:
        """End the session, if there is one. Works even if the auth token has expired."""
        tokens, self._tokens = self._tokens, None
        if tokens and tokens.refresh_token:
            _require(self._post("/logout", {"refreshToken": tokens.refresh_token}), 204)

    def query(self, query: str, variables: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """Return the data of a query or a mutation. Refreshes the tokens when necessary."""
        response = self._post_authorized({"query": query, "variables": variables})
        return _data_of(_require(response, 200).body)

    def subscribe(self, query: str, variables: Optional[Dict[str, Any]] = None) -> Iterator[Dict[str, Any]]:
        """Yield the results of a subscription, over server-sent events. Returns or raises when the stream ends.

        The stream ends at the latest when the auth token expires. Then subscribe again after your last cursor.
        """
        stream = self._post_authorized({"query": query, "variables": variables}, is_stream=True)
        if isinstance(stream, _Response):
            _require(stream, 200)
            raise EspalierError(f"{self._url} sent no event stream.", stream.status)
        try:
            with stream:
                for line in stream:
                    if line.startswith(b"data: {"):
                        yield _data_of(json.loads(line[len("data: ") :]))
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error

    def refresh(self) -> None:
        """Exchange the tokens for new ones. The other methods do this when necessary."""
        self._refresh(self._current())

    def _current(self) -> _Tokens:
        if not self._tokens:
            raise EspalierError("Not logged in.")
        return self._tokens

    def _refresh(self, old: _Tokens) -> _Tokens:
        # A refresh token can be used only once: one thread refreshes, and the others use its new tokens.
        with self._refreshing:
            tokens = self._current()
            if tokens is old:
                tokens = self._store_tokens(self._post("/login/refresh", {"refreshToken": old.refresh_token}, old))
            return tokens

    def _store_tokens(self, response: _Response) -> _Tokens:
        body = _require(response, 200).body
        try:
            # After 80 % of the lifetime, so that no request is sent with an expired token.
            refresh_at = self._clock() + body["expires_in"] * 0.8
            self._tokens = _Tokens(body["authToken"], body["refreshToken"], refresh_at)
        except (KeyError, TypeError) as error:
            raise EspalierError(f"{self._url} is not an Espalier server.") from error
        return self._tokens

    def _post_authorized(self, body: Dict[str, Any], is_stream: bool = False) -> Any:
        """POST to /graphql with a valid auth token. If the token expires in transit, refresh and try again."""
        tokens = self._current()
        if self._clock() >= tokens.refresh_at:
            tokens = self._refresh(tokens)
        response = self._post("/graphql", body, tokens, is_stream)
        is_refused = isinstance(response, _Response) and response.status == 401
        if is_refused and response.headers.get("token-expired") == "true":
            response = self._post("/graphql", body, self._refresh(tokens), is_stream)
        return response

    def _post(
        self, path: str, body: Dict[str, Any], tokens: Optional[_Tokens] = None, is_stream: bool = False
    ) -> Any:
        """Return a _Response, or the open response if it is an event stream."""
        headers = {"Content-Type": "application/json"}
        if tokens:
            headers["Authorization"] = "Bearer " + tokens.auth_token
        if is_stream:
            headers["Accept"] = "text/event-stream"
        try:
            request = Request(self._url + path, json.dumps(body).encode(), headers)
            try:
                response = self._opener.open(request, timeout=self._timeout_seconds)
            except HTTPError as refusal:
                response = refusal
            if is_stream and response.headers.get_content_type() == "text/event-stream":
                return response
            with response:
                text = response.read()
            return _Response(response.code, response.headers, json.loads(text) if text else None)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        except ValueError as error:
            raise EspalierError(f"{self._url} is not an Espalier server: {error}") from error

    def _unreachable(self, error: Exception) -> EspalierError:
        return EspalierError(f"Cannot reach {self._url}: {getattr(error, 'reason', error)}")


def _require(response: _Response, status: int) -> _Response:
    """Raise an error for any other status: problem+json (RFC 9457), or the GraphQL errors of /graphql."""
    body = response.body if isinstance(response.body, dict) else {}
    if response.status == status and (body or status == 204):
        return response
    error = (body.get("errors") or [{}])[0]
    reason = (
        body.get("detail")
        or error.get("message")
        or f"The server returned {response.status}. Is it an Espalier server?"
    )
    code = body.get("code") or error.get("extensions", {}).get("code", "")
    raise EspalierError(reason, response.status, code)


def _data_of(result: Dict[str, Any]) -> Dict[str, Any]:
    errors = result.get("errors")
    if errors:
        raise EspalierError(errors[0]["message"], 200, errors[0].get("extensions", {}).get("code", ""))
    data: Dict[str, Any] = result["data"]
    return data


def folders_in(client: EspalierClient, path: str) -> Iterator[Dict[str, Any]]:
    """Yield the subfolders of a folder. Requests each page when it is needed."""
    query = """query ($path: String, $after: String) {
      folder(path: $path) {
        folders(first: 100, after: $after) { items { id name path } pageInfo { hasNextPage endCursor } } } }"""
    after = None
    while True:
        folder = client.query(query, {"path": path, "after": after})["folder"]
        if folder is None:
            raise EspalierError(f"The folder {path} does not exist, or you do not have access to it.")
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
        # Never pass a password or a key as an argument: every user of the machine can read it.
        api_key = os.environ.get("ESPALIER_API_KEY")
        with EspalierClient(url, api_key=api_key) as client:
            if not api_key:
                password = os.environ.get("ESPALIER_PASSWORD") or getpass.getpass(f"Password of {username}: ")
                client.login(username, password)
            for folder in folders_in(client, path):
                print(folder["path"])
        sys.stdout.flush()
    except BrokenPipeError:
        # The program that reads the output has ended, for example `head`. Python flushes again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (EspalierError, EOFError) as error:
        print(f"espalier_client.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
