/**
 * Lists the third-party packages of a release: packages that npm installs with ours, and packages that the console and the
 * documentation site bundle. `npm sbom` provides the data. `npm run sbom` writes dist/sbom.cdx.json.
 */

import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly properties: readonly { readonly name: string }[];
  readonly licenses?: readonly {
    readonly expression?: string;
    readonly license?: { readonly id?: string; readonly name?: string };
  }[];
}

/** https://cyclonedx.org/docs/1.5/json/ */
export interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export interface ShippedPackages {
  /** The bill of materials of these packages. */
  readonly sbom: Sbom;
  /** By `name@version`, in the order of their names. */
  readonly packages: ReadonlyMap<string, ShippedPackage>;
}

export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly includedAs: readonly ('installed' | 'bundled')[];
}

/**
 * The packages in the scripts of the documentation site. They cannot be derived from the dependencies of VitePress,
 * because these also include its build tools.
 */
const sitePackages = new Set([
  '@mermaid-js/tiny',
  '@vue/reactivity',
  '@vue/runtime-core',
  '@vue/runtime-dom',
  '@vue/shared',
  '@vueuse/core',
  '@vueuse/integrations',
  '@vueuse/shared',
  'focus-trap',
  'mark.js',
  'minisearch',
  'tabbable',
  'vitepress',
]);

const maxOutputBytes = 64 * 1024 * 1024;

/** Reads package-lock.json only, so the result is the same on every machine. */
export function readShippedPackages(root: string): ShippedPackages {
  const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const output = execFileSync('npm', ['sbom', ...options], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: maxOutputBytes,
  });
  return selectShippedPackages(JSON.parse(output) as Sbom, readConsoleImports(root));
}

/**
 * Removes development tools from the list of npm. `npm sbom --omit=dev` would also drop the packages that the console and
 * the documentation bundle, and those that a workspace shares with a tool, for example pg.
 */
export function selectShippedPackages(all: Sbom, consoleImports: ReadonlySet<string>): ShippedPackages {
  const refsOf = (ref: string) => all.dependencies.find((each) => each.ref === ref)?.dependsOn ?? [];
  const consoleRef = all.dependencies.find(({ ref }) => readName(ref) === '@espalier/console')!.ref;
  const bundledRefs = new Set(refsOf(consoleRef).filter((ref) => consoleImports.has(readName(ref))));
  addDependencies(bundledRefs, refsOf);
  for (const { 'bom-ref': ref } of all.components) if (sitePackages.has(readName(ref))) bundledRefs.add(ref);
  const installedRefs = new Set(
    all.components
      .filter(({ properties }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'))
      .map((component) => component['bom-ref'])
      .filter((ref) => !isOwnPackage(readName(ref))),
  );
  // npm lists a version once, with the properties of one of its copies, which may belong to a tool.
  addDependencies(installedRefs, refsOf);

  const isShipped = (ref: string) =>
    installedRefs.has(ref) || bundledRefs.has(ref) || isOwnPackage(readName(ref));
  const components = all.components
    .filter((component) => isShipped(component['bom-ref']))
    .sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const packages = components
    .filter((component) => !isOwnPackage(readName(component['bom-ref'])))
    .map((component): [string, ShippedPackage] => [
      component['bom-ref'],
      {
        name: readName(component['bom-ref']),
        version: component.version,
        license: readLicense(component),
        includedAs: [
          ...(installedRefs.has(component['bom-ref']) ? (['installed'] as const) : []),
          ...(bundledRefs.has(component['bom-ref']) ? (['bundled'] as const) : []),
        ],
      },
    ]);
  const listedRefs = new Set(components.map((component) => component['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => listedRefs.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((dependency) => listedRefs.has(dependency)),
    }));
  const server = components.find((component) => readName(component['bom-ref']) === 'espalier')!;
  const metadata = { ...all.metadata, component: { ...server, name: 'espalier' } };
  return { sbom: { ...all, metadata, components, dependencies }, packages: new Map(packages) };
}

/** Adds the dependencies of the packages, except `@types/…`, which are optional peers that no release contains. */
function addDependencies(refs: Set<string>, refsOf: (ref: string) => readonly string[]): void {
  // The loop also visits the references that it adds.
  for (const ref of refs)
    for (const dependency of refsOf(ref)) if (!dependency.startsWith('@types/')) refs.add(dependency);
}

/** Reads the name of a package from its reference, because `name` of a workspace is the name of its folder. */
function readName(ref: string): string {
  return ref.slice(0, ref.lastIndexOf('@'));
}

function isOwnPackage(name: string): boolean {
  return name === 'espalier' || name.startsWith('@espalier/');
}

function readLicense({ licenses: [first] = [] }: Component): string {
  return first?.expression ?? first?.license?.id ?? first?.license?.name ?? 'unknown';
}

function readConsoleImports(root: string): Set<string> {
  const names = new Set<string>();
  for (const file of globSync('console/src/**/*.{ts,tsx}', { cwd: root })) {
    if (file.endsWith('.test.ts')) continue;
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport|\bimport\() ?'([@\w][^']*)'/g)) {
      names.add(/^(@[^/]+\/)?[^/]+/.exec(specifier!)![0]);
    }
  }
  return names;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const { sbom, packages } = readShippedPackages(root);
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  const { version } = sbom.metadata.component;
  console.log(`dist/sbom.cdx.json lists ${packages.size} packages of Espalier ${version}.`);
}
