// Mirrors a folder and all that is inside into a JSON file: reads it, then follows its changes without a gap, across lost
// connections, restarts of the server and the end of tokens. The file is always whole. Stop it with Ctrl-C. Needs Node
// 24 and the package @espalier/client; in the repository, that is its source:
//
//   ESPALIER_PASSWORD=… npx node --conditions=espalier-source examples/typescript/mirror.ts http://127.0.0.1:8080 admin /Places places.json

import { rename, writeFile } from 'node:fs/promises';
import { createClient, EspalierError, type Client, type WatchedTree } from '@espalier/client';

const [url, username, path, file, ...more] = process.argv.slice(2);
// Not an argument: those, everybody on the machine can read.
const password = process.env['ESPALIER_PASSWORD'];

if (!url || !username || !path || !file || more.length > 0) {
  complain('Usage: mirror.ts <url> <user name> <path of a folder> <file>');
  process.exitCode = 2;
} else if (!password) {
  complain('Set ESPALIER_PASSWORD.');
  process.exitCode = 1;
} else {
  let client: Client | undefined;
  try {
    // What can wait, waits for longer by itself: this is for the login and the first look.
    client = createClient({ url, retrySeconds: 3 });
    await client.login({ username, password });
    await mirror(client, path, file);
  } catch (error) {
    complain(lineOf(error));
    process.exitCode = 1;
  } finally {
    await client?.logout().catch((error: unknown) => complain(`Could not log out: ${lineOf(error)}`));
    client?.close();
  }
}

/** Until it is told to stop, or cannot go on. */
async function mirror(client: Client, path: string, file: string): Promise<void> {
  const stopping = new AbortController();
  // Once: whoever presses Ctrl-C again does not want to wait.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const { signal } = stopping;
  try {
    const folder = await client.folders.byPath(path);
    if (!folder) throw new EspalierError('NOT_FOUND', `There is no folder ${path}, or you may not see it.`);
    const tree = await client.watch({ under: folder.id, signal });
    const save = keepFile(file, () => contentOf(tree));
    const broken = new Promise<never>((_, reject) => tree.onChange(() => void save().catch(reject)));
    const over = Promise.race([tree.closed, broken]);
    await Promise.race([save(), over]);
    console.log(`Mirrors ${path} into ${file}, ${tree.size} folders now. Stop with Ctrl-C.`);
    reportConnection(client, signal);
    try {
      await over;
    } finally {
      await save();
    }
    console.log(`Stopped. ${file} has ${tree.size} folders.`);
  } catch (error) {
    // It was stopped before it had begun.
    if (error !== signal.reason) throw error;
  }
}

/**
 * Answers with what writes the file as things are then: one at a time, and once more if it was called meanwhile, so that
 * the last write is never an old one. It is written beside and put in its place at once: readers find the old or the new.
 */
function keepFile(file: string, content: () => unknown): () => Promise<void> {
  const beside = `${file}.new`;
  let isOld = false;
  let writing: Promise<void> | undefined;
  const write = async () => {
    try {
      while (isOld) {
        isOld = false;
        await writeFile(beside, `${JSON.stringify(content(), null, 2)}\n`, { flush: true });
        await rename(beside, file);
      }
    } finally {
      // Here, not when the promise is told of: whoever comes in between would be forgotten.
      writing = undefined;
    }
  };
  return () => {
    isOld = true;
    return (writing ??= write());
  };
}

/** The folder with what is inside, in the order of the server; null while it is not there. */
function contentOf(tree: WatchedTree): unknown {
  const inside = (id: string): unknown => {
    const { name, title, icon, description, properties, version, updatedAt } = tree.get(id)!;
    const folders = tree.children(id).map((child) => inside(child.id));
    return { id, name, title, icon, description, properties, version, updatedAt, folders };
  };
  return tree.root ? inside(tree.root.id) : null;
}

/** For whoever wonders why nothing changes. The client comes back by itself. */
function reportConnection({ socket }: Client, signal: AbortSignal): void {
  let isLost = false;
  socket.on('closed', () => {
    if (!isLost && !signal.aborted) console.log('The connection is lost. It will be back.');
    isLost = true;
  });
  socket.on('connected', () => {
    if (isLost) console.log('The connection is back.');
    isLost = false;
  });
}

function lineOf(error: unknown): string {
  const { message, code } = error as { message: string; code?: string };
  // Whatever has no code is a mistake of this program.
  if (code === undefined) throw error;
  return code === 'LOGGED_OUT' ? 'Logged out: the server has ended the session.' : message;
}

function complain(line: string): void {
  console.error(`mirror.ts: ${line}`);
}
