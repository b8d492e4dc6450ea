/** Serves the documentation site at `/docs` if it was built. */

import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { HttpServices } from '../http-services.ts';
import { addStaticSite, pagePolicy } from './static-site.ts';

const address = '/docs';

export function addDocumentation(
  app: FastifyInstance,
  { documentationFolder, settings }: HttpServices,
): void {
  const { basePath } = settings;
  if (documentationFolder === undefined) return;
  addStaticSite(app, {
    address,
    basePath,
    folder: documentationFolder,
    notFound: 'The documentation does not contain this page.',
    findPage: (path) => (path === '' || path.endsWith('/') ? `${path}index.html` : undefined),
    isPrecompressed: false,
    setRoot: (text, root) => text.replaceAll(/(?<=["'(])\/docs\//g, root),
    policy: (_, text = '') => pagePolicy({ scripts: `'self'${inlineScriptHashes(text)}`, styles }),
  });
}

/** Pages mark the colors of code with style attributes, and diagrams contain style elements. */
const styles = "'self' 'unsafe-inline'";

/** A page runs only the inline scripts of its build, for example the script that chooses the color theme. */
function inlineScriptHashes(page: string): string {
  return [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g)]
    .map(([, script]) => ` 'sha256-${createHash('sha256').update(script!).digest('base64')}'`)
    .join('');
}
