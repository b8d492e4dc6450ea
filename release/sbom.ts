/**
 * `npm run sbom`: the software bill of materials of a release, in dist/sbom.cdx.json, as CycloneDX has it. It lists what
 * is handed on, also what is built into the console, and nothing that is only used to build and to test.
 * https://cyclonedx.org/docs/1.6/json/
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedDependencies, type Dependency } from './shipped-dependencies.ts';

export interface Component {
  readonly type: 'application' | 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
}

export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** The same for the same lock file: no time is in it, and its number is made of what it holds. */
export function sbomOf(version: string, dependencies: ReadonlyMap<string, Dependency>): Sbom {
  const own: Component = {
    type: 'application',
    'bom-ref': `espalier@${version}`,
    name: 'espalier',
    version,
    purl: purlOf('espalier', version),
    licenses: [{ expression: 'Apache-2.0' }],
  };
  const components = [...dependencies].map(([key, { name, version, licence, integrity }]): Component => {
    const hash = integrity?.startsWith('sha512-') ? integrity.slice('sha512-'.length) : undefined;
    return {
      type: 'library',
      'bom-ref': key,
      name,
      version,
      purl: purlOf(name, version),
      licenses: [{ expression: licence }],
      ...(hash && { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] }),
    };
  });
  const below = [...dependencies].map(([ref, { needs }]) => ({ ref, dependsOn: [...new Set(needs)].sort() }));
  const digest = createHash('sha256')
    .update(JSON.stringify([own, components]))
    .digest('hex');
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(digest)}`,
    version: 1,
    metadata: { component: own },
    components,
    dependencies: [{ ref: own['bom-ref'], dependsOn: [...dependencies.keys()] }, ...below],
  };
}

/** https://github.com/package-url/purl-spec: the scope is a part of the path, with its sign encoded. */
function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** RFC 9562, version 8: of our own making. */
function uuidOf(digest: string): string {
  const [, one, two, three, four, five] = /^(.{8})(.{4})(.{3})(.{3})(.{12})/.exec(digest)!;
  return [one, two, `8${three}`, `8${four}`, five].join('-');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as {
    version: string;
  };
  const sbom = sbomOf(version, shippedDependencies(root));
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`dist/sbom.cdx.json lists ${sbom.components.length} packages of Espalier ${version}.`);
}
