#!/usr/bin/env bash
# Logs in, lists the subfolders of the root page by page, refreshes the tokens and logs out. Needs curl and jq.
# It never passes a password or a token as an argument of a program, because every user of the machine can read arguments.
#
#   examples/curl/espalier.sh http://127.0.0.1:8080 admin          asks for the password
#   ESPALIER_PASSWORD=… examples/curl/espalier.sh                  uses this password
#   ESPALIER_API_KEY=esp_… examples/curl/espalier.sh               uses this API key, without a login
set -euo pipefail
umask 077

api=${1:-http://127.0.0.1:8080}
username=${2:-admin}
work=$(mktemp -d)
refresh_token=

fail() {
  echo "espalier.sh: $*" >&2
  exit 1
}

# post <path> <body>: sends the auth token if there is one. Sets $status, and writes the response to $work/head and $work/body.
post() {
  local headers=(-H 'Content-Type: application/json')
  [[ -s $work/authorization ]] && headers+=(-H "@$work/authorization")
  : >"$work/body"
  status=$(curl --silent --show-error --max-time 30 "${headers[@]}" --data-binary @- \
    --dump-header "$work/head" --output "$work/body" --write-out '%{http_code}' -- "$api$1" \
    <<<"$2" 2>"$work/error") || fail "Cannot reach $api: $(<"$work/error")"
}

# Fails with the message of an error response: problem+json (RFC 9457), or GraphQL errors of /graphql.
fail_with_response() {
  local reason
  reason=$(jq -r '.detail // .errors[0].message // empty' "$work/body" 2>/dev/null) || true
  fail "$1 returned $status: ${reason:-Is it an Espalier server?}"
}

# Stores the tokens of a login or a refresh. The auth token is written to a file, as a header for curl.
store_tokens() {
  [[ $status == 200 && -s $work/body ]] || fail_with_response "$1"
  jq -er '"Authorization: Bearer \(.authToken)"' "$work/body" >"$work/authorization" 2>/dev/null || fail_with_response "$1"
  refresh_token=$(jq -er .refreshToken "$work/body") || fail_with_response "$1"
  lifetime=$(jq -er .expires_in "$work/body") || fail_with_response "$1"
  # After 80 % of the lifetime, so that no request is sent with an expired token.
  refresh_at=$((SECONDS + lifetime * 4 / 5))
}

log_in() {
  local body
  body=$(PASSWORD=$1 jq -n --arg username "$username" '{$username, password: env.PASSWORD}')
  post /login "$body"
  store_tokens /login
}

# Sends both tokens, and replaces both. The auth token may have expired. A refresh token can be used only once.
refresh() {
  local body
  body=$(REFRESH_TOKEN=$refresh_token jq -n '{refreshToken: env.REFRESH_TOKEN}')
  post /login/refresh "$body"
  store_tokens /login/refresh
}

# Sends only the refresh token, so it works even if the auth token has expired.
log_out() {
  [[ -n $refresh_token ]] || return 0
  rm "$work/authorization"
  local body
  body=$(REFRESH_TOKEN=$refresh_token jq -n '{refreshToken: env.REFRESH_TOKEN}')
  post /logout "$body"
  [[ $status == 204 ]] || fail_with_response /logout
  echo 'Logged out.' >&2
}

# Ends the session and deletes the files, even after a failure.
finish() {
  local code=$?
  if ((code == 0)); then (log_out) || code=1; else (log_out) 2>/dev/null || true; fi
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT

# query <text> <variables>: writes the response to $work/body.
query() {
  local body
  body=$(jq -n --arg query "$1" --argjson variables "$2" '{$query, $variables}')
  [[ -z $refresh_token ]] || ((SECONDS < refresh_at)) || refresh
  post /graphql "$body"
  if [[ $status == 401 ]] && grep -qi '^token-expired: true' "$work/head"; then
    refresh
    post /graphql "$body"
  fi
  [[ $status == 200 ]] && jq -e 'has("data") and (has("errors") | not)' "$work/body" >/dev/null || fail_with_response /graphql
}

list_folders() {
  local text='query ($after: String) {
    folder { folders(first: 100, after: $after) { items { name } pageInfo { hasNextPage endCursor } } } }'
  local variables='{}'
  while
    query "$text" "$variables"
    jq -r '.data.folder.folders.items[].name' "$work/body"
    jq -e '.data.folder.folders.pageInfo.hasNextPage' "$work/body" >/dev/null
  do
    variables=$(jq '{after: .data.folder.folders.pageInfo.endCursor}' "$work/body")
  done
}

for program in curl jq; do
  command -v "$program" >/dev/null || fail "This script needs $program. Install it first."
done

# An API key needs no login, no refresh and no logout.
if [[ -n ${ESPALIER_API_KEY-} ]]; then
  echo "Authorization: Bearer $ESPALIER_API_KEY" >"$work/authorization"
  list_folders
  exit
fi

password=${ESPALIER_PASSWORD-}
if [[ -z $password ]]; then
  [[ -t 0 ]] || fail 'Set ESPALIER_PASSWORD or ESPALIER_API_KEY, or run this script in a terminal to enter the password.'
  read -rsp "Password of $username: " password
  echo >&2
fi

log_in "$password"
echo "Logged in at $api as $username." >&2
list_folders
refresh
echo 'Refreshed the tokens.' >&2
