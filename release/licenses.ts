/**
 * `npm run licenses`: writes docs/reference/licenses.md with the third-party packages of a release and their licenses. With
 * --check, it only compares the page. Both fail if a license is not permitted.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatPage } from '../docs/generate/markdown.ts';
import { readShippedPackages, type ShippedPackage } from './sbom.ts';

/** Licenses that allow distribution together with Apache-2.0, with their names from https://spdx.org/licenses/. */
const permittedLicenses = new Set([
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

/** One of several licenses joined with OR must be permitted, but all licenses joined with AND. */
export function isPermitted(license: string): boolean {
  const plain = license.replaceAll(/[()]/g, '');
  return plain
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => permittedLicenses.has(each.trim())));
}

export function listRejectedLicenses(packages: Iterable<ShippedPackage>): string[] {
  return [...packages]
    .filter(({ license }) => !isPermitted(license))
    .map(
      ({ name, version, license }) =>
        `${name} ${version} is under ${license}, which release/licenses.ts does not permit.`,
    );
}

export async function createLicensePage(packages: Iterable<ShippedPackage>): Promise<string> {
  const all = [...packages];
  const packagesByLicense = Map.groupBy(all, ({ license }) => license);
  const kinds = [...packagesByLicense].sort(([, a], [, b]) => b.length - a.length);
  const rows = all.map(
    ({ name, version, license, includedAs }) =>
      `| ${name} | ${version} | ${license} | ${includedAs.join(', ')} |`,
  );
  return formatPage(
    'licenses.md',
    `<!-- Made by npm run licenses. -->

# Third-party licenses

Espalier is under the Apache License 2.0. A release also contains packages of other authors. npm installs the *installed* packages
together with \`espalier\` and \`@espalier/client\`, some of them only on certain platforms. The files of the console and of the
documentation site contain parts of the *bundled* packages.

${all.length} packages: ${kinds.map(([license, packagesOfLicense]) => `${packagesOfLicense.length} under ${license}`).join(', ')}.

| Package | Version | License | Included as |
|---|---|---|---|
${rows.join('\n')}
`,
  );
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const file = join(root, 'docs/reference/licenses.md');
  const { packages } = readShippedPackages(root);
  const page = await createLicensePage(packages.values());
  for (const rejection of listRejectedLicenses(packages.values())) {
    console.error(rejection);
    process.exitCode = 1;
  }
  if (!process.argv.includes('--check')) {
    writeFileSync(file, page);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== page) {
    console.error('docs/reference/licenses.md does not match package-lock.json. Run: npm run licenses');
    process.exitCode = 1;
  }
}
