#!/usr/bin/env bash
# Logs in, lists the folders of the top page by page, refreshes and logs out: with curl, jq and nothing else.
# The password and the tokens are never arguments of a program: everybody on the machine could read them.
#
#   examples/curl/espalier.sh http://127.0.0.1:8080 admin          asks for the password
#   ESPALIER_PASSWORD=… examples/curl/espalier.sh                  does not
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

# post <path> <body>: with the auth token, if there is one. Leaves $status, and the answer in $work/head and $work/body.
post() {
  local headers=(-H 'Content-Type: application/json')
  [[ -s $work/authorization ]] && headers+=(-H "@$work/authorization")
  : >"$work/body"
  status=$(curl --silent --show-error --max-time 30 "${headers[@]}" --data-binary @- \
    --dump-header "$work/head" --output "$work/body" --write-out '%{http_code}' -- "$api$1" \
    <<<"$2" 2>"$work/error") || fail "$api cannot be reached: $(<"$work/error")"
}

# Refusals are problem+json (RFC 9457), those of /graphql are GraphQL errors.
refused() {
  local reason
  reason=$(jq -r '.detail // .errors[0].message // empty' "$work/body" 2>/dev/null) || true
  fail "$1 answered $status: ${reason:-Is it Espalier?}"
}

# Keeps the pair of a login or a refresh: the auth token in a file, as the header that curl reads.
keep() {
  [[ $status == 200 && -s $work/body ]] || refused "$1"
  jq -er '"Authorization: Bearer \(.authToken)"' "$work/body" >"$work/authorization" 2>/dev/null || refused "$1"
  refresh_token=$(jq -er .refreshToken "$work/body") || refused "$1"
  lifetime=$(jq -er .expires_in "$work/body") || refused "$1"
  # Early, after 80 % of its time, so that no request meets the end of the token.
  refresh_at=$((SECONDS + lifetime * 4 / 5))
}

log_in() {
  local body
  body=$(PASSWORD=$1 jq -n --arg username "$username" '{$username, password: env.PASSWORD}')
  post /login "$body"
  keep /login
}

# The auth token goes along, expired or not. Both are replaced: a refresh token can be exchanged once.
refresh() {
  local body
  body=$(REFRESH_TOKEN=$refresh_token jq -n '{refreshToken: env.REFRESH_TOKEN}')
  post /login/refresh "$body"
  keep /login/refresh
}

# The refresh token alone will do, also when the auth token has expired.
log_out() {
  [[ -n $refresh_token ]] || return 0
  rm "$work/authorization"
  local body
  body=$(REFRESH_TOKEN=$refresh_token jq -n '{refreshToken: env.REFRESH_TOKEN}')
  post /logout "$body"
  [[ $status == 204 ]] || refused /logout
  echo 'Logged out.' >&2
}

# However it ends, neither the session nor the files stay behind.
finish() {
  local code=$?
  if ((code == 0)); then (log_out) || code=1; else (log_out) 2>/dev/null || true; fi
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT

# ask <query> <variables>: leaves the answer in $work/body.
ask() {
  local body
  body=$(jq -n --arg query "$1" --argjson variables "$2" '{$query, $variables}')
  ((SECONDS < refresh_at)) || refresh
  post /graphql "$body"
  if [[ $status == 401 ]] && grep -qi '^token-expired: true' "$work/head"; then
    refresh
    post /graphql "$body"
  fi
  [[ $status == 200 ]] && jq -e 'has("data") and (has("errors") | not)' "$work/body" >/dev/null || refused /graphql
}

list_folders() {
  local query='query ($after: String) {
    folder { folders(first: 100, after: $after) { items { name } pageInfo { hasNextPage endCursor } } } }'
  local variables='{}'
  while
    ask "$query" "$variables"
    jq -r '.data.folder.folders.items[].name' "$work/body"
    jq -e '.data.folder.folders.pageInfo.hasNextPage' "$work/body" >/dev/null
  do
    variables=$(jq '{after: .data.folder.folders.pageInfo.endCursor}' "$work/body")
  done
}

for program in curl jq; do
  command -v "$program" >/dev/null || fail "$program is needed, and not installed."
done

password=${ESPALIER_PASSWORD-}
if [[ -z $password ]]; then
  [[ -t 0 ]] || fail 'Set ESPALIER_PASSWORD, or run it in a terminal, which asks for the password.'
  read -rsp "Password of $username: " password
  echo >&2
fi

log_in "$password"
echo "Logged in at $api as $username." >&2
list_folders
refresh
echo 'Refreshed.' >&2
