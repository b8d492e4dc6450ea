/**
 * `npm run licences`: writes docs/reference/licenses.md, the packages of others that a release contains, with their licences. With
 * --check it only compares. It fails if a licence is not permitted.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatPage } from '../docs/generate/markdown.ts';
import { readShippedPackages, type ShippedPackage } from './sbom.ts';

/** Identifiers of https://spdx.org/licenses/. These licences allow distribution under our own. */
const permitted = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
]);

/** With OR one licence must be permitted, with AND every licence. */
export function isPermitted(licence: string): boolean {
  const plain = licence.replaceAll(/[()]/g, '');
  return plain
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => permitted.has(each.trim())));
}

export function listRejectedLicences(packages: Iterable<ShippedPackage>): string[] {
  return [...packages]
    .filter(({ licence }) => !isPermitted(licence))
    .map(
      ({ name, version, licence }) =>
        `${name} ${version} is under ${licence}, which release/licences.ts does not permit.`,
    );
}

export async function createLicencePage(packages: Iterable<ShippedPackage>): Promise<string> {
  const all = [...packages];
  const counts = Map.groupBy(all, ({ licence }) => licence);
  const kinds = [...counts].sort(([, a], [, b]) => b.length - a.length);
  const rows = all.map(
    ({ name, version, licence, comes }) => `| ${name} | ${version} | ${licence} | ${comes.join(', ')} |`,
  );
  return formatPage(
    'licences.md',
    `<!-- Made by npm run licences. -->

# Third-party licences

Espalier is under the Apache License 2.0. A release also contains packages of other authors. npm installs the *installed* packages
together with \`espalier\` and \`@espalier/client\`, some of them only on certain platforms. The files of the console and of the
documentation site contain parts of the *bundled* packages.

${all.length} packages: ${kinds.map(([licence, under]) => `${under.length} under ${licence}`).join(', ')}.

| Package | Version | Licence | Included as |
|---|---|---|---|
${rows.join('\n')}
`,
  );
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const file = join(root, 'docs/reference/licenses.md');
  const { packages } = readShippedPackages(root);
  const page = await createLicencePage(packages.values());
  for (const rejection of listRejectedLicences(packages.values())) {
    console.error(rejection);
    process.exitCode = 1;
  }
  if (!process.argv.includes('--check')) {
    writeFileSync(file, page);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== page) {
    console.error('docs/reference/licenses.md does not match package-lock.json. Run: npm run licences');
    process.exitCode = 1;
  }
}
