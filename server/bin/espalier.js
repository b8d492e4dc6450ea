#!/usr/bin/env node
// Plain JavaScript that any version of Node can run: an old version prints advice instead of a syntax error.

import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// A clone runs from its sources. A published package contains only the build.
const source = new URL('../src/cli/espalier.ts', import.meta.url);
const isClone = existsSync(source);
const needed = isClone ? [22, 18] : [22, 15];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(
    `Espalier needs Node ${needed.join('.')} or newer, and this is Node ${process.versions.node}.\n` +
      (isClone
        ? 'Use npm start or npx espalier <command>: they use the Node that npm install has installed.'
        : 'Install a newer Node from https://nodejs.org/'),
  );
  process.exit(1);
}

// oxlint-disable no-restricted-properties -- these variables are not settings of Espalier

// Set before graphql-js is loaded. In other environments it checks with each value whether it is loaded twice.
process.env.NODE_ENV ??= 'production';

// The compiled code is cached in the user's own folder, which makes a start faster. Without a writable folder, Node caches nothing.
const { XDG_CACHE_HOME, HOME } = process.env;
const userCache = XDG_CACHE_HOME || (HOME && `${HOME}/.cache`);
const cache = isClone ? fileURLToPath(new URL('../../node_modules/.cache', import.meta.url)) : userCache;
if (cache) module.enableCompileCache(`${cache}/espalier`);

if (isClone && !process.execArgv.includes('--conditions=espalier-source')) {
  module.registerHooks({
    resolve: (specifier, context, next) =>
      /^@?espalier/.test(specifier)
        ? next(specifier, { ...context, conditions: [...context.conditions, 'espalier-source'] })
        : next(specifier, context),
  });
}

const { main } = await import(isClone ? source.href : '../dist/cli/espalier.js');
await main(process.argv.slice(2));
