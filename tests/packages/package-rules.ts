/** Finds the faults of a package. A package without faults can be published. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, relative } from 'node:path';
import { init, parse } from 'es-module-lexer';
import { root, type Exports, type PackedPackage } from './packed.ts';

await init();

/** Scripts that run on the machine of the user who installs the package. */
const installScripts = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
];
/** Our own tools use this condition for the sources, which are not packed. */
const sourceCondition = 'espalier-source';

export function findFaults(packed: PackedPackage, versions: ReadonlyMap<string, string>): string[] {
  return [
    ...faultsOfManifest(packed, versions),
    ...faultsOfFiles(packed),
    ...faultsOfTargets(packed),
    ...faultsOfImports(packed),
    ...faultsOfTexts(packed),
  ];
}

function faultsOfManifest({ manifest }: PackedPackage, versions: ReadonlyMap<string, string>): string[] {
  const { name, version, scripts = {}, dependencies = {} } = manifest;
  const faults: string[] = [];
  const check = (condition: boolean, text: string) => void (condition || faults.push(text));
  check(manifest.private !== true, 'is private');
  check(!!manifest.description, 'has no description');
  check(manifest.license === 'Apache-2.0', 'has another license');
  check(manifest.type === 'module', 'does not contain ES modules');
  check(!!manifest.engines?.node, 'does not declare which Node it needs');
  check(!!manifest.files, 'does not list its files');
  check(scripts['prepack'] === 'npm run build', 'is not built when it is packed');
  // npm publishes a new scoped package privately by default.
  check(!name.startsWith('@') || manifest.publishConfig?.access === 'public', 'would not be public');
  for (const script of installScripts) check(!(script in scripts), `has the script ${script}`);
  check(
    new Set(versions.values()).size === 1,
    `has the version ${version}, but other packages have another version`,
  );
  for (const [other, range] of Object.entries(dependencies)) {
    const own = versions.get(other);
    check(own === undefined || own === range, `requires ${other} ${range}, but its version is ${own}`);
  }
  return faults;
}

/** Each entry point of these packages is bundled into one small module, because browsers load it. */
const bundledPackages = new Set(['@espalier/client']);
/** The console consists only of built files with generated names. */
const isPage = (name: string) => name === '@espalier/console';
const siteFolder = 'dist/site/';

/** Checks that the package contains exactly the build with its types, and the other listed files. */
function faultsOfFiles({ workspace, manifest, files }: PackedPackage): string[] {
  const entryPoints = new Set(targetsOf(manifest.exports ?? {}).map(({ target }) => target));
  const isModule = (name: string) => entryPoints.has(`./${name}.js`) || !bundledPackages.has(manifest.name);
  // Minified modules have source maps, so that errors and debuggers show the sources.
  const modules = (name: string) => [
    `${name}.js`,
    ...(bundledPackages.has(manifest.name) ? [`${name}.js.map`] : []),
  ];
  const sources = isPage(manifest.name) ? [] : globSync('src/**/*.ts', { cwd: join(root, workspace) });
  const builtFiles = sources
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => name.replace(/^src\/(.*)\.ts$/, 'dist/$1'))
    .flatMap((name) => [...(isModule(name) ? modules(name) : []), `${name}.d.ts`]);
  // The pages that `espalier docs` prints.
  const pages = manifest.bin
    ? globSync('{,clients/,operators/,administrators/,reference/}*.md', { cwd: join(root, 'docs') })
    : [];
  // The documentation site, if it was built.
  const site = manifest.bin
    ? globSync('**/*', { cwd: join(root, 'docs/.vitepress/dist'), withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => relative(join(root, 'docs/.vitepress/dist'), join(parentPath, name)))
    : [];
  const listedFiles = (manifest.files ?? []).filter((name) => name !== 'dist' || isPage(manifest.name));
  const isListed = (name: string) => listedFiles.some((each) => name === each || name.startsWith(`${each}/`));
  const expected = new Set([
    'package.json',
    'README.md',
    'LICENSE',
    ...builtFiles,
    ...pages.map((page) => `dist/docs/${page}`),
    ...site.map((name) => siteFolder + name),
  ]);
  const license = readFileSync(join(root, workspace, 'LICENSE'), 'utf8');
  return [
    ...[...expected].filter((name) => !files.includes(name)).map((name) => `lacks ${name}`),
    ...files
      .filter((name) => !expected.has(name) && !isListed(name))
      .map((name) => `contains the unexpected file ${name}`),
    ...listedFiles
      .filter((each) => !files.some((name) => name === each || name.startsWith(`${each}/`)))
      .map((name) => `lacks ${name}`),
    ...(license === readFileSync(join(root, 'LICENSE'), 'utf8') ? [] : ['has a different license text']),
  ];
}

/** Checks that the targets of `exports` and `bin` exist, and that TypeScript finds the types first. */
function faultsOfTargets({ workspace, manifest, files }: PackedPackage): string[] {
  const faults: string[] = [];
  for (const { conditions, target } of targetsOf(manifest.exports ?? {})) {
    const path = target.replace(/^\.\//, '');
    if (conditions.includes(sourceCondition)) {
      if (!existsSync(join(root, workspace, path))) faults.push(`has no source ${target}`);
    } else if (!files.includes(path)) {
      faults.push(`exports the missing file ${target}`);
    } else if (path.endsWith('.js') && !files.includes(path.replace(/js$/, 'd.ts'))) {
      faults.push(`exports ${target} without types`);
    }
  }
  for (const entry of Object.values(typeof manifest.exports === 'object' ? manifest.exports : {})) {
    if (typeof entry === 'string') continue;
    const order = Object.keys(entry).filter((condition) => condition !== sourceCondition);
    if (order[0] !== 'types' || order.at(-1) !== 'default')
      faults.push(`orders conditions as ${order.join()}`);
  }
  for (const target of Object.values(manifest.bin ?? {})) {
    if (!files.includes(target)) faults.push(`has no program ${target}`);
    else if (!readFileSync(join(root, workspace, target), 'utf8').startsWith('#!/usr/bin/env node\n'))
      faults.push(`has a program ${target} that does not start Node`);
  }
  return faults;
}

function targetsOf(exports: Exports, conditions: string[] = []): { conditions: string[]; target: string }[] {
  if (typeof exports === 'string') return [{ conditions, target: exports }];
  return Object.entries(exports).flatMap(([condition, below]) =>
    targetsOf(below, [...conditions, condition]),
  );
}

/** Checks that every import is a dependency. In the repository, imports work even without one. */
function faultsOfImports({ manifest, files, folder }: PackedPackage): string[] {
  const dependencyNames = new Set([
    manifest.name,
    ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  ]);
  const faults = new Set<string>();
  // The console and the documentation are bundled completely.
  const isModule = (name: string) =>
    name.endsWith('.js') && !isPage(manifest.name) && !name.startsWith(siteFolder);
  for (const name of files.filter(isModule)) {
    const [imports] = parse(readFileSync(join(folder, name), 'utf8'));
    for (const { specifier } of imports) {
      if (!specifier || specifier.startsWith('.') || isBuiltin(specifier)) continue;
      const dependency = /^(@[^/]+\/)?[^/]+/.exec(specifier)![0];
      if (!dependencyNames.has(dependency))
        faults.add(`imports ${dependency} in ${name}, but does not depend on it`);
    }
  }
  return [...faults];
}

/** Checks that no text refers to missing sources or contains the build path. */
function faultsOfTexts({ manifest, files, folder }: PackedPackage): string[] {
  const maps = files.filter((name) => name.endsWith('.map'));
  const ownMaps = bundledPackages.has(manifest.name) ? maps : [];
  const texts = files.filter((name) => /\.(js|ts|css|html|json)$/.test(name));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return [
    ...(isPage(manifest.name) ? maps.map((name) => `contains the unexpected file ${name}`) : []),
    ...ownMaps.flatMap((name) => faultsOfMap(name, read(name))),
    ...[...texts, ...ownMaps].flatMap((name) => {
      const text = read(name);
      const mapName = /^\/[/*][#@] sourceMappingURL=(?!data:)(\S+)/m.exec(text)?.[1];
      const expected = ownMaps.includes(`${name}.map`) ? basename(`${name}.map`) : undefined;
      return [
        ...(mapName === expected
          ? []
          : [mapName ? `names a source map in ${name}` : `names no source map in ${name}`]),
        ...(text.includes(root) ? [`contains the build path in ${name}`] : []),
      ];
    }),
  ];
}

/** The sources are not packed, so a map must contain them. */
function faultsOfMap(name: string, text: string): string[] {
  const { sources, sourcesContent = [] } = JSON.parse(text) as {
    sources: string[];
    sourcesContent?: (string | null)[];
  };
  return sources.flatMap((source, index) => [
    ...(sourcesContent[index] ? [] : [`lacks the source ${source} in ${name}`]),
    ...(/^(\/|[a-z]+:)/.test(source) ? [`has the absolute path ${source} in ${name}`] : []),
  ]);
}
