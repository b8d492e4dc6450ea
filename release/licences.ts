/**
 * `npm run licences`: writes docs/licences.md, what is handed on of others and under which licences. With --check it only
 * compares, and fails too if a licence is none of those that we may hand on.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { shippedDependencies, type Dependency } from './shipped-dependencies.ts';

/** By their names in https://spdx.org/licenses/: all let us hand the work on under our own. */
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

/** Of a choice one is enough; of several that hold together, each is needed. */
export function isPermitted(licence: string): boolean {
  const plain = licence.replaceAll(/[()]/g, '');
  return plain
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => permitted.has(each.trim())));
}

export function refusedLicences(dependencies: Iterable<Dependency>): string[] {
  return [...dependencies]
    .filter(({ licence }) => !isPermitted(licence))
    .map(
      ({ name, version, licence }) =>
        `${name} ${version} is under ${licence}, which release/licences.ts does not permit.`,
    );
}

export async function licencePage(dependencies: Iterable<Dependency>): Promise<string> {
  const all = [...dependencies];
  const counts = Map.groupBy(all, ({ licence }) => licence);
  const kinds = [...counts].sort(([, one], [, other]) => other.length - one.length);
  const rows = all.map(
    ({ name, version, licence, comes }) => `| ${name} | ${version} | ${licence} | ${comes.join(', ')} |`,
  );
  return format(
    `<!-- Made by npm run licences. -->

# Licences of what comes along

Espalier is under the Apache License 2.0. It hands on the work of others: *installed* are the packages that npm installs with
\`espalier\` and \`@espalier/client\`, some of them on one kind of machine only; *bundled* are those that the console imports,
with what they need, of which its files hold what is used.

${all.length} packages: ${kinds.map(([licence, of]) => `${of.length} under ${licence}`).join(', ')}.

| Package | Version | Licence | Comes |
|---|---|---|---|
${rows.join('\n')}
`,
    { parser: 'markdown' },
  );
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const file = join(root, 'docs/licences.md');
  const dependencies = shippedDependencies(root);
  const page = await licencePage(dependencies.values());
  for (const refusal of refusedLicences(dependencies.values())) {
    console.error(refusal);
    process.exitCode = 1;
  }
  if (!process.argv.includes('--check')) {
    writeFileSync(file, page);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== page) {
    console.error('docs/licences.md is not what package-lock.json says. Run: npm run licences');
    process.exitCode = 1;
  }
}
