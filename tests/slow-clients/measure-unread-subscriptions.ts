/**
 * `npm run lab -- unread-subscriptions --subscriptions 10000 --changes 100 --heap-megabytes 300`: one user opens
 * many subscriptions with wide responses and reads nothing. Fails if the server ends, or if another user misses a
 * change.
 */

import { readFileSync } from 'node:fs';
import { administrator, NodeProcess } from '../many-nodes/node-process.ts';
import { ApiClient } from '../support/api-client.ts';
import { sqlite } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { EventClient } from '../live/event-client.ts';
import { SocketClient } from '../live/socket-client.ts';
import { parseScriptOptions } from '../support/script-options.ts';

const values = parseScriptOptions(
  'npm run lab -- unread-subscriptions [--subscriptions 10000] [--changes 100] [--folders 4000] [--heap-megabytes 300]\n\nChecks that a server survives unread subscriptions, and that other users receive every change.',
  ['subscriptions', 'changes', 'folders', 'heap-megabytes'],
);
const subscriptions = Number(values.subscriptions ?? 10_000);
const changes = Number(values.changes ?? 100);
const folders = Number(values.folders ?? 4_000);
const heapMegabytes = Number(values['heap-megabytes'] ?? 300);
const perSocket = 100;
const timeoutMs = 8 * 60_000;

const wideSubscription =
  'subscription{folderChanges{kind cursor folder{name parent{folders{items{id name description path}}}}}}';
const narrowSubscription = 'subscription{folderChanges{kind folder{name}}}';

const deadline = setTimeout(() => {
  console.error(`The measurement did not end within ${timeoutMs / 60_000} minutes.`);
  process.exit(1);
}, timeoutMs);
const database = await sqlite.create();
const node = await NodeProcess.start({
  databaseUrl: database.url,
  settings: { LOG_LEVEL: 'warn' },
  nodeFlags: [`--max-old-space-size=${heapMegabytes}`],
});
const api = new ApiClient(node.url);
try {
  const adminToken = await api.logIn(administrator);
  const run = <T>(name: string, input: Record<string, unknown>, selection: string) =>
    api.query<Record<string, T>>(
      `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!){${name}(input: $input){${selection}}}`,
      { input },
      adminToken,
    );
  const parent = await run<{ folder: { id: string } }>('createFolder', { name: 'wide' }, 'folder{id}');
  const parentId = parent['createFolder']!.folder.id;
  const description = 'A folder with a description of some length, as folders have them.';
  const children = Array.from({ length: folders }, (_, number) => ({ path: `Child ${number}`, description }));
  await run('importFolders', { parentId, list: children }, 'folderCount');
  const tokenOf = async (username: string) => {
    const password = `walnut cabin ${username}`;
    const created = await run<{ user: { id: string } }>('createUser', { username, password }, 'user{id}');
    const userId = created['createUser']!.user.id;
    await run('grantAccess', { folderId: parentId, userId, level: 'READ' }, '__typename');
    return api.logIn({ username, password });
  };
  const openSubscriptions = async () => {
    type Server = { server: { activity: { subscriptions: number } } };
    const { server } = await api.query<Server>('{server{activity{subscriptions}}}', {}, adminToken);
    return server.activity.subscriptions;
  };

  const [greedyToken, firstToken, secondToken, thirdToken] = [
    await tokenOf('greedy'),
    await tokenOf('first'),
    await tokenOf('second'),
    await tokenOf('third'),
  ];
  const began = performance.now();
  const silentSockets: SocketClient[] = [];
  for (let openedCount = 0; openedCount < subscriptions; openedCount += perSocket) {
    const client = await SocketClient.connect(node.url, greedyToken);
    silentSockets.push(client);
    client.socket.pause();
    for (let id = 0; id < perSocket; id++) client.start(String(id), wideSubscription);
    await eventually(
      async () => (await openSubscriptions()) >= openedCount + perSocket,
      'all subscriptions of the socket are open',
      60_000,
    );
  }
  const openedSeconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${await openSubscriptions()} subscriptions of one user on ${silentSockets.length} sockets after ${openedSeconds} s; ${memory()}`,
  );

  const oldProtocolSocket = await SocketClient.connect(node.url, secondToken, { protocols: ['graphql-ws'] });
  const newProtocolSocket = await SocketClient.connect(node.url, firstToken);
  const events = await EventClient.open(
    node.url,
    { query: narrowSubscription },
    { authorization: `Bearer ${thirdToken}` },
  );
  newProtocolSocket.start('1', narrowSubscription);
  oldProtocolSocket.start('1', narrowSubscription);
  await eventually(
    async () => (await openSubscriptions()) >= subscriptions + 3,
    'the subscriptions of the other users are open',
  );
  const readers: (() => Promise<unknown>)[] = [
    async () => (await newProtocolSocket.next()).payload,
    async () => (await oldProtocolSocket.next()).payload,
    async () => (await events.next())?.data,
  ];
  const times: number[] = [];
  for (let number = 0; number < changes; number++) {
    const name = `New ${number}`;
    const start = performance.now();
    await run('createFolder', { parentId, name }, 'folder{id}');
    for (const read of readers) {
      const received = JSON.stringify(await read());
      const expected = JSON.stringify({ data: { folderChanges: { kind: 'CREATE', folder: { name } } } });
      if (received !== expected) throw new Error(`Another user received ${received} instead of ${expected}`);
    }
    times.push(performance.now() - start);
  }
  const sortedTimes = times.toSorted((a, b) => a - b);
  const formatPercentile = (share: number) =>
    sortedTimes[Math.floor(share * (sortedTimes.length - 1))]!.toFixed(0);
  console.log(
    `${changes} changes, each received by ${readers.length} other users: time until the last of these users received it: p50 ${formatPercentile(0.5)} ms, p95 ${formatPercentile(0.95)} ms, at most ${formatPercentile(1)} ms.`,
  );
  console.log(`${await openSubscriptions()} subscriptions are still open; ${memory()}`);
  for (const { socket } of silentSockets) socket.terminate();
  for (const { socket } of [newProtocolSocket, oldProtocolSocket]) socket.terminate();
  events.disconnect();
  await eventually(async () => (await openSubscriptions()) === 0, 'all subscriptions end', 60_000);
  console.log(`After all clients have disconnected: ${memory()}`);
} catch (error) {
  // Logs the error first, because stopping the server can cause further errors.
  console.error(
    error,
    node.hasEnded ? 'The server has ended.' : 'The server is alive.',
    node.log.slice(-2_000),
  );
  process.exitCode = 1;
} finally {
  await node.stop();
  await database.remove();
  clearTimeout(deadline);
}

function memory(): string {
  const status = readFileSync(`/proc/${node.pid}/status`, 'utf8');
  const megabytes = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) / 1024);
  return `${megabytes('VmRSS')} MB of memory in use, ${megabytes('VmHWM')} MB at most.`;
}
