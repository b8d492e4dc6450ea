/**
 * Every row and rule of sections 2 to 8 of the contract, each with a name. Scenarios name the rows that they prove, and
 * a test checks that every row has a scenario. Rows that leave something open need none; the list is complete with them.
 */

export const contractRows = {
  '2 LoginResponse.authToken': 'string, a signed token in the style of a JWT: the AT',
  '2 LoginResponse.expires_in': 'integer, the lifetime of the AT in seconds; 600 by default',
  '2 LoginResponse.refreshToken': 'string in UUID format: the RT',
  '2 Credentials.username': 'string, required',
  '2 Credentials.password': 'string, required',
  '2 RefreshRequest.refreshToken': 'string, the RT, to refresh',
  '2 LogoutRequest.refreshToken': 'string, the RT, to log out',
  '2 VerifyRequest.authToken': 'string, the AT to check',
  '2 GraphRequest.query': 'string, a graph query text',
  '2 Folder.name': 'string, the folder name',
  '2 Folder.folders': 'a connection with edges, each holding a node, which is a folder',
  '2 root': 'the root folder is reached through the top-level query field folder',

  '3 AT expires': 'after expires_in seconds requests get 401 with the header token-expired = true',
  '3 refresh': 'an expired or valid AT with a valid RT: the pair is replaced, with a new expiry window',
  '3 RT expires': 'after 60 days refreshing is no longer possible; a new login is',
  '3 logout revokes RT': 'after logout the RT cannot create new ATs',
  '3 AT survives logout': 'after logout the AT works until it expires but cannot be used for refreshing',

  '4 JSON': 'all bodies are JSON, sent with Content-Type: application/json',
  '4 POST /login': 'no auth header, {username, password}: 200 with authToken, expires_in, refreshToken',
  '4 POST /login/refresh': 'AT in the header, {refreshToken}: 200 with a new pair',
  '4 POST /logout': 'AT optional, body empty or {refreshToken}: 204 without a body',
  '4 POST /login/verify': 'no auth header, {authToken}: 204 without a body',
  '4 POST /graphql': 'AT required, {query}: JSON with a data object',
  '4.1': 'logout takes the AT with an empty body, or the RT; when both are present, the AT takes precedence',
  '4.2': 'verify answers 204 only when the AT was issued by the service and is still valid',
  '4.3':
    '{folder {name}} has the shape data.folder.name; subfolders are data.folder.folders.edges[].node.name',
  '4.4': 'the path may be written with a doubled slash; /graphql is the canonical one',

  '5.1': 'Authorization: the word Bearer, one whitespace, the AT',
  '5.2': 'the AT is obtained from POST /login',
  '5.3': 'no header, a wrong scheme, an invalid or an expired AT: 401',
  '5.4': 'the 401 for an expired AT has token-expired = true; a client may refresh before or after it',
  '5.5': 'AT 10 minutes, RT 60 days; refreshing keeps a session alive',
  '5.6': 'refresh takes the RT with the AT from the same login',
  '5.7': 'logout revokes the RT only',
  '5.8': 'passwords and tokens are never echoed other than in the login and refresh answers',

  '7 /login 400': 'malformed payload',
  '7 /login 401': 'invalid credentials',
  '7 /login/refresh 400': 'malformed payload',
  '7 /login/refresh 401': 'AT invalid or RT invalid',
  '7 /logout 400': 'no AT present and the RT is invalid',
  '7 /logout 401': 'the AT is invalid',
  '7 /login/verify 400': 'every case other than a valid AT: malformed, not issued by the service, expired',
  '7 authorized 401': 'missing header, wrong scheme, invalid or expired AT; token-expired is true for expiry',

  '8 AT lifetime': '600 seconds by default, reported in expires_in',
  '8 RT lifetime': '60 days by default',
} as const;

export type ContractRow = keyof typeof contractRows;

/** Topics that sections 2 to 8 name without specifying them. */
export const openTopics = [
  '2: other folder fields, top-level fields, arguments and paging',
  '3: states of folders and other resources',
  '4.5: the list of other authorized endpoints',
  '4.6: details of WebSocket endpoints',
  '6: event kinds, channels and payloads',
  '7: the shape of error bodies',
  '8: how defaults are configured; rate, size and complexity limits',
] as const;
