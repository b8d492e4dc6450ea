// Reads the tree, then follows its changes over a WebSocket without a gap: across lost connections, and across the end
// of its auth token. Needs Node 22 or newer, and no library.
//
//   node examples/watch.mjs http://127.0.0.1:8080 admin <password>

const [api = 'http://127.0.0.1:8080', username = 'admin', password = ''] = process.argv.slice(2);

const post = async (path, body, authToken) => {
  const headers = { 'content-type': 'application/json' };
  if (authToken) headers.authorization = `Bearer ${authToken}`;
  const answer = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};

let tokens = await post('/login', { username, password });
const refresh = async () => {
  tokens = await post('/login/refresh', { refreshToken: tokens.refreshToken }, tokens.authToken);
  return { authorization: `Bearer ${tokens.authToken}` };
};

const readTree = async () => {
  const query = '{ cursor folder { descendants(first: 1000) { items { path } } } }';
  const { data } = await post('/graphql', { query }, tokens.authToken);
  console.log(`There are ${data.folder.descendants.items.length} folders.`);
  return data.cursor;
};

const subscription = `subscription ($after: String) {
  folderChanges(after: $after) { kind cursor id folder { path } by { username } } }`;

let cursor = await readTree();

const apply = async (change) => {
  console.log(`${change.kind} ${change.folder?.path ?? change.id ?? ''} ${change.by?.username ?? ''}`);
  cursor = change.kind === 'RESYNC' ? await readTree() : change.cursor;
};

const connect = () => {
  const socket = new WebSocket(`${api.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message) => socket.send(JSON.stringify(message));
  const start = () => {
    const payload = { query: subscription, variables: { after: cursor } };
    send({ type: 'subscribe', id: '1', payload });
  };
  let applying = Promise.resolve();
  socket.onopen = () => {
    send({ type: 'connection_init', payload: { authorization: `Bearer ${tokens.authToken}` } });
  };
  socket.onmessage = async ({ data }) => {
    const { type, payload } = JSON.parse(data);
    if (type === 'connection_ack') start();
    else if (type === 'next') applying = applying.then(() => apply(payload.data.folderChanges));
    else if (type === 'ping' && payload?.reason === 'TOKEN_EXPIRES') {
      send({ type: 'pong', payload: await refresh() });
    } else if (type === 'ping') send({ type: 'pong' });
    else if (type === 'error') throw new Error(JSON.stringify(payload));
  };
  socket.onclose = async ({ code, reason }) => {
    console.log(`The connection was closed: ${code} ${reason}`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    // 4403: the auth token is not good any more. If there is no other to be had, it is over.
    if (code === 4403) await refresh();
    connect();
  };
};

connect();
