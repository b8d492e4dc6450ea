/**
 * What others wrote and we hand on: the packages that npm installs with ours, and those that are built into the console.
 * Read from package-lock.json, so that it is the same on every machine. Asks no registry.
 */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Dependency {
  readonly name: string;
  readonly version: string;
  /** As the package says it, in the words of SPDX. */
  readonly licence: string;
  /** With the packages of the server and the client, or within the files of the console; some are both. */
  readonly comes: readonly ('installed' | 'bundled')[];
  readonly integrity?: string;
  /** Keys of those that it needs. */
  readonly needs: readonly string[];
}

interface LockEntry {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

type Lock = Readonly<Record<string, LockEntry>>;

const published = ['contract', 'client', 'console', 'server'];

/** By `name@version`, in the order of their names. */
export function shippedDependencies(root: string): Map<string, Dependency> {
  const file = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const lock = (JSON.parse(file) as { packages: Lock }).packages;
  const installed = closure(
    lock,
    published.flatMap((workspace) => needsOf(lock, workspace)),
  );
  const bundled = closure(
    lock,
    importedByConsole(root).flatMap((name) => found(lock, 'console', name) ?? []),
  );
  const places = [...new Set([...installed, ...bundled])].filter((place) => !published.includes(place));
  const entries = places.map((place): [string, Dependency] => {
    const { license, integrity } = lock[place]!;
    const comes = [
      ...(installed.has(place) ? (['installed'] as const) : []),
      ...(bundled.has(place) ? (['bundled'] as const) : []),
    ];
    const needs = needsOf(lock, place).map((other) => keyOf(lock, other));
    const { name, version } = named(lock, place);
    return [
      keyOf(lock, place),
      { name, version, licence: license ?? 'not told', comes, needs, ...(integrity && { integrity }) },
    ];
  });
  return new Map(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function named(lock: Lock, place: string): { name: string; version: string } {
  const entry = lock[place]!;
  return { name: entry.name ?? place.replace(/^.*node_modules\//, ''), version: entry.version! };
}

function keyOf(lock: Lock, place: string): string {
  const { name, version } = named(lock, place);
  return `${name}@${version}`;
}

function closure(lock: Lock, start: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const open = [...start];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (reached.has(place)) continue;
    reached.add(place);
    open.push(...needsOf(lock, place));
  }
  return reached;
}

/** Where those are that npm installs with it. An optional one may not be for any machine of ours, and be missing. */
function needsOf(lock: Lock, place: string): string[] {
  const entry = lock[place]!;
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = entry;
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta[name]?.optional);
  const names = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
  return names.flatMap((name) => found(lock, place, name) ?? []);
}

/** As Node looks for it: in the folder, and in those above. */
function found(lock: Lock, place: string, name: string): string | undefined {
  const folders = place.split('/');
  for (let length = folders.length; length >= 0; length--) {
    const above = [...folders.slice(0, length), 'node_modules', name].join('/');
    const entry = lock[above];
    if (entry) return entry.link ? entry.resolved : above;
  }
  return undefined;
}

function importedByConsole(root: string): string[] {
  const names = new Set<string>();
  for (const file of globSync('console/src/**/*.{ts,tsx}', { cwd: root })) {
    if (file.endsWith('.test.ts')) continue;
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport|\bimport\() ?'([@\w][^']*)'/g)) {
      const [name] = /^(@[^/]+\/)?[^/]+/.exec(specifier!)!;
      if (!name.startsWith('node:')) names.add(name);
    }
  }
  return [...names];
}
