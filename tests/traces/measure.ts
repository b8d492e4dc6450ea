/**
 * Measures the cost of traces. Sends the same requests in turn to servers that trace none, a tenth, and all of their
 * requests. Prints the CPU time per request and its ratio.
 */

import { summarize } from '../../bench/scenario.ts';
import { ServerProcess } from '../measured-server/server-process.ts';
import { parseScriptOptions } from '../support/script-options.ts';
import { TraceCollector } from './trace-collector.ts';

const { requests = '2000', rounds = '7' } = parseScriptOptions(
  'npm run lab -- traces [--requests 2000] [--rounds 7]\n\nCompares the CPU time of requests with traces and without.',
  ['requests', 'rounds'],
);
const concurrency = 10;

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => stopping.abort(new Error(`Stopped by ${name}.`)));
}

const queries: Readonly<Record<string, string>> = {
  'folder and its name': '{folder{name}}',
  '100 folders and their parents': '{folder{folders(first:100){items{name description parent{name}}}}}',
};

const collector = await TraceCollector.start();
// The collector stores nothing, because there are very many spans.
collector.storesSpans = false;
const traceSettings = (share: string) => ({ TRACES_URL: collector.url, TRACES_SHARE: share });
const servers = {
  without: await ServerProcess.start(stopping.signal),
  'a tenth': await ServerProcess.start(stopping.signal, traceSettings('0.1')),
  all: await ServerProcess.start(stopping.signal, traceSettings('1')),
};
try {
  const list = Array.from({ length: 100 }, (_, index) => ({ path: `Folder ${index}` }));
  const importFolders = 'mutation($list:[ImportedPath!]){importFolders(input:{list:$list}){cursor}}';
  for (const server of Object.values(servers)) await server.query(importFolders, { list });
  for (const [what, query] of Object.entries(queries)) await compare(what, query);
} finally {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  await collector.stop();
}

async function compare(what: string, query: string): Promise<void> {
  const cpuTimes = { without: [] as number[], 'a tenth': [] as number[], all: [] as number[] };
  for (let round = -1; round < Number(rounds); round++) {
    for (const [name, server] of Object.entries(servers)) {
      const micros = await measureCpu(server, query);
      // The first round is a warm-up.
      if (round >= 0) cpuTimes[name as keyof typeof cpuTimes].push(micros);
    }
  }
  const baseline = summarize(cpuTimes.without).median;
  for (const [name, all] of Object.entries(cpuTimes)) {
    const { median } = summarize(all);
    console.log(`${what}, ${name}: ${median.toFixed(0)} µs, ${(median / baseline).toFixed(2)}`);
  }
}

async function measureCpu(server: ServerProcess, query: string): Promise<number> {
  const before = await server.usage();
  let remaining = Number(requests);
  const sendRequests = async () => {
    while (remaining-- > 0) await server.query(query);
  };
  await Promise.all(Array.from({ length: concurrency }, sendRequests));
  const after = await server.usage();
  return (after.cpuMicroseconds - before.cpuMicroseconds) / Number(requests);
}
