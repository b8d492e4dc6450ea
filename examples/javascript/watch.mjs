// Reads the tree, then prints every change over a WebSocket without a gap: across lost connections and expired tokens. Needs
// Node.js 22 or newer, and no library.
//
//   ESPALIER_API_KEY=esp_… npx node examples/javascript/watch.mjs http://127.0.0.1:8080
//   ESPALIER_PASSWORD=… npx node examples/javascript/watch.mjs http://127.0.0.1:8080 admin

const [api = 'http://127.0.0.1:8080', username = 'admin'] = process.argv.slice(2);
// Never pass a password or a key as an argument: every user of the machine can read it.
const { ESPALIER_PASSWORD: password, ESPALIER_API_KEY: apiKey } = process.env;

if (!globalThis.WebSocket) {
  console.error(
    'This needs Node.js 22 or newer. In the repository, run: npx node examples/javascript/watch.mjs …',
  );
  process.exit(1);
}

const post = async (path, body, authToken) => {
  const headers = { 'content-type': 'application/json' };
  if (authToken) headers.authorization = `Bearer ${authToken}`;
  const response = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status === 401) {
    const { errors, detail } = await response.json();
    exit(errors?.[0].message ?? detail);
  }
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return response.json();
};

const exit = (text) => {
  console.log(text);
  process.exit(1);
};

if (!apiKey && !password) exit('Set ESPALIER_API_KEY to an API key, or ESPALIER_PASSWORD to the password.');

// An API key is sent like an auth token. It needs no login and no refresh.
const logIn = () =>
  post('/login', { username, password }).catch((error) =>
    exit(`Cannot reach ${api}: ${error.cause?.code ?? error.message}.`),
  );
let tokens = apiKey ? { authToken: apiKey } : await logIn();

// One refresh at a time, because a refresh token can be used only once.
let refreshing;
const refresh = () => (refreshing ??= fetchTokens().finally(() => (refreshing = undefined)));
const fetchTokens = async () => {
  tokens = await post('/login/refresh', { refreshToken: tokens.refreshToken }, tokens.authToken);
};

const readTree = async () => {
  const query = '{ cursor folder { descendants { totalCount } } }';
  const { data } = await post('/graphql', { query }, tokens.authToken);
  console.log(`There are ${data.folder.descendants.totalCount} folders.`);
  return data.cursor;
};

const subscription = `subscription ($after: String) {
  folderChanges(after: $after) { kind cursor folderId folder { path } by { username } } }`;

let cursor = await readTree();

const apply = async ({ data, errors }) => {
  if (errors) exit(JSON.stringify(errors));
  const change = data.folderChanges;
  console.log(`${change.kind} ${change.folder?.path ?? change.folderId ?? ''} ${change.by?.username ?? ''}`);
  cursor = change.kind === 'RESYNC' ? await readTree() : change.cursor;
};

const watch = () => {
  const socket = new WebSocket(`${api.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message) => socket.send(JSON.stringify(message));
  const authorization = () => `Bearer ${tokens.authToken}`;
  let applying = Promise.resolve();

  socket.onopen = () => send({ type: 'connection_init', payload: { authorization: authorization() } });
  socket.onmessage = async ({ data }) => {
    const { type, payload } = JSON.parse(data);
    if (type === 'connection_ack') {
      send({ type: 'subscribe', id: '1', payload: { query: subscription, variables: { after: cursor } } });
    } else if (type === 'next') {
      applying = applying.then(() => apply(payload)).catch(() => socket.close());
    } else if (type === 'ping') {
      const isWarning = !apiKey && payload?.reason === 'TOKEN_EXPIRES';
      // If the refresh fails, the server closes the socket when the token expires, and `onclose` tries again.
      const isRefreshed =
        isWarning &&
        (await refresh().then(
          () => true,
          () => false,
        ));
      send(isRefreshed ? { type: 'pong', payload: { authorization: authorization() } } : { type: 'pong' });
    } else if (type === 'error') {
      exit(JSON.stringify(payload));
    }
  };
  socket.onclose = async ({ code, reason }) => {
    console.log(`The connection was closed: ${code} ${reason}`);
    if (apiKey && code === 4403) exit('The API key is no longer valid.');
    await applying;
    // When a server shuts down, the close reason contains the cursor of the last change that it has sent.
    cursor = /cursor=(\S+)$/.exec(reason)?.[1] ?? cursor;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    // 4403: the auth token is no longer valid.
    if (code === 4403) await refresh().catch(() => undefined);
    watch();
  };
};

watch();
