// Copies a folder with everything inside to a JSON file and keeps the file up to date: across lost connections, restarts of the
// server and expired tokens. The file is always complete. Stop it with Ctrl-C. Needs Node.js 24 and the package @espalier/client.
// In the repository, the flag `--conditions` loads the client from its source:
//
//   ESPALIER_API_KEY=esp_… npx node --conditions=espalier-source examples/typescript/mirror.ts http://127.0.0.1:8080 - /Places places.json
//   ESPALIER_PASSWORD=… npx node --conditions=espalier-source examples/typescript/mirror.ts http://127.0.0.1:8080 admin /Places places.json

import { rename, writeFile } from 'node:fs/promises';
import { createClient, EspalierError, type Client, type WatchedTree } from '@espalier/client';

const [url, username, path, file, ...more] = process.argv.slice(2);
// Never pass a password or a key as an argument: every user of the machine can read it.
const { ESPALIER_PASSWORD: password, ESPALIER_API_KEY: apiKey } = process.env;

if (!url || !username || !path || !file || more.length > 0) {
  complain('Usage: mirror.ts <url> <user name, or - with an API key> <path of a folder> <file>');
  process.exitCode = 2;
} else if (!apiKey && !password) {
  complain('Set ESPALIER_API_KEY to an API key, or ESPALIER_PASSWORD to the password.');
  process.exitCode = 1;
} else {
  let client: Client | undefined;
  try {
    // This limits the login and the first read. After that, `watch` retries until it succeeds.
    client = createClient({ url, apiKey: apiKey || undefined, retrySeconds: 3 });
    if (!apiKey && password) await client.login({ username, password });
    await mirror(client, path, file);
  } catch (error) {
    complain(lineOf(error));
    process.exitCode = 1;
  } finally {
    if (!apiKey)
      await client?.logout().catch((error: unknown) => complain(`Cannot log out: ${lineOf(error)}`));
    client?.close();
  }
}

/** Keeps the file current until a signal stops it, or until it fails. */
async function mirror(client: Client, path: string, file: string): Promise<void> {
  const controller = new AbortController();
  // `once`, so that a second Ctrl-C ends the program immediately.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  const { signal } = controller;
  try {
    const folder = await client.folders.byPath(path);
    if (!folder)
      throw new EspalierError(
        'NOT_FOUND',
        `The folder ${path} does not exist, or you do not have access to it.`,
      );
    const tree = await client.watch({ under: folder.id, signal });
    const save = fileWriter(file, () => contentOf(tree));
    const writeFailure = new Promise<never>((_, reject) => tree.onChange(() => void save().catch(reject)));
    const end = Promise.race([tree.closed, writeFailure]);
    await Promise.race([save(), end]);
    console.log(`Mirrors ${path} to ${file}: ${tree.size} folders. Press Ctrl-C to stop.`);
    reportConnection(client, signal);
    try {
      await end;
    } finally {
      await save();
    }
    console.log(`Stopped. ${file} contains ${tree.size} folders.`);
  } catch (error) {
    // The user stopped the program before the first read was complete.
    if (error !== signal.reason) throw error;
  }
}

/**
 * Returns a function that writes the current content. One write runs at a time. A call during a write starts another write after
 * it, so the last write is never stale. Each write creates a new file and then replaces the old one, so no reader gets a partial file.
 */
function fileWriter(file: string, content: () => unknown): () => Promise<void> {
  const newFile = `${file}.new`;
  let isStale = false;
  let currentWrite: Promise<void> | undefined;
  const write = async () => {
    try {
      while (isStale) {
        isStale = false;
        await writeFile(newFile, `${JSON.stringify(content(), null, 2)}\n`, { flush: true });
        await rename(newFile, file);
      }
    } finally {
      // Reset here and not in a later callback, because a call in between would be lost.
      currentWrite = undefined;
    }
  };
  return () => {
    isStale = true;
    return (currentWrite ??= write());
  };
}

/** Returns the folder with everything inside, in the order of the server. Returns null while the folder does not exist. */
function contentOf(tree: WatchedTree): unknown {
  const inside = (id: string): unknown => {
    const { name, title, icon, description, properties, version, updatedAt } = tree.get(id)!;
    const folders = tree.children(id).map((child) => inside(child.id));
    return { id, name, title, icon, description, properties, version, updatedAt, folders };
  };
  return tree.root ? inside(tree.root.id) : null;
}

/** Reports lost connections. The client connects again by itself. */
function reportConnection({ socket }: Client, signal: AbortSignal): void {
  let isLost = false;
  socket.on('closed', () => {
    if (!isLost && !signal.aborted) console.log('The connection is lost. Connecting again…');
    isLost = true;
  });
  socket.on('connected', () => {
    if (isLost) console.log('Connected again.');
    isLost = false;
  });
}

function lineOf(error: unknown): string {
  const { message, code } = error as { message: string; code?: string };
  // An error without a code is a bug in this program.
  if (code === undefined) throw error;
  return code === 'LOGGED_OUT'
    ? 'The server has ended the session. Start the program again to log in.'
    : message;
}

function complain(line: string): void {
  console.error(`mirror.ts: ${line}`);
}
