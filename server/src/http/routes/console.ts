/** Serves the web console at `/console`. */

import type { FastifyInstance } from 'fastify';
import type { HttpServices } from '../http-services.ts';
import { addMissingSite, addStaticSite, pagePolicy } from './static-site.ts';

const address = '/console';
/** The console's own address below the API root. */
export const consoleRoot = `${address}/`;
const notBuiltMessage =
  "The console has not been built. Run 'npm run build --workspace console', and restart the server.";

const consolePolicy = pagePolicy({ scripts: "'self'", styles: "'self'" });
/** The editor of the explorer creates style elements. No other page may do this. */
const explorerPolicy = pagePolicy({ scripts: "'self'", styles: "'self' 'unsafe-inline'" });
const isExplorer = (path: string) => /^explorer(?:\/|$)/.test(path);

const page = 'index.html';

export function addConsole(app: FastifyInstance, { consoleFolder, settings }: HttpServices): void {
  const { basePath } = settings;
  if (consoleFolder === undefined) return;
  if (consoleFolder === null) return addMissingSite(app, address, basePath + consoleRoot, notBuiltMessage);
  addStaticSite(app, {
    address,
    basePath,
    folder: consoleFolder,
    notFound: 'The console does not contain this file.',
    findPage: (path) => (isPage(path) ? page : undefined),
    isPrecompressed: true,
    setRoot,
    policy: (path) => (isExplorer(path) ? explorerPolicy : consolePolicy),
  });
}

/** The single page has many addresses. An address with a file extension belongs to a file. */
function isPage(path: string): boolean {
  return !path.startsWith('assets/') && !/\.[^/]*$/.test(path);
}

/** The page is served at every depth, so the addresses of its files must be absolute. */
function setRoot(text: string, root: string): string {
  return text.replaceAll(/(?<=(?:src|href)=")(?:\.\/|\/console\/)/g, root);
}
