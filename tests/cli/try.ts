import { sqlite } from '../databases.ts';
import { CliBed } from './cli-bed.ts';
import { createInterface } from 'node:readline';
const bed = await CliBed.start(sqlite);
console.log('XDG_CONFIG_HOME=' + bed.folder, bed.tree.bed.url, bed.tree.authToken);
await new Promise<void>((r) => createInterface({ input: process.stdin }).on('close', r));
await bed.stop();
