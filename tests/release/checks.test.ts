/** Tests the checks of schema, licenses and advisories that `npm run check` runs, and the bill of materials. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { evaluateAudit, runAudit } from '../../release/audit.ts';
import { createLicensePage, isPermitted, listRejectedLicenses } from '../../release/licenses.ts';
import { readShippedPackages, type ShippedPackage } from '../../release/sbom.ts';
import { listUnannouncedBreaks } from '../../release/schema-breaks.ts';

const root = join(import.meta.dirname, '../..');
const { sbom, packages } = readShippedPackages(root);

describe('the schema check', () => {
  const before = 'type Query { folder: String, icon: String }';
  const changelog = (part: string) =>
    `# Changelog\n\n## Unreleased\n\n${part}\n\n## 0.1.0\n\n### Breaking\n\n- Old.\n`;

  test('lists a removed field as a break', () => {
    const after = 'type Query { folder: String }';
    assert.deepEqual(listUnannouncedBreaks(before, after, changelog('### Added')), [
      'Query.icon was removed.',
    ]);
  });

  test('accepts a break that the changelog announces under "Breaking"', () => {
    const after = 'type Query { folder: String }';
    const breakingChangelog = changelog('### Breaking\n\n- Query.icon was removed. Use `folder`.');
    assert.deepEqual(listUnannouncedBreaks(before, after, breakingChangelog), []);
    const addedChangelog = changelog('### Added\n\n- Query.icon was removed.');
    assert.deepEqual(listUnannouncedBreaks(before, after, addedChangelog), ['Query.icon was removed.']);
  });

  test('accepts new and deprecated fields', () => {
    const after = 'type Query { folder: String @deprecated, icon: String, title: String }';
    assert.deepEqual(listUnannouncedBreaks(before, after, changelog('')), []);
  });
});

describe('the packages of a release', () => {
  test('are the packages that npm installs or the console bundles, but no tools', () => {
    const includedAs = (name: string) =>
      [...packages.values()].find((each) => each.name === name)?.includedAs;
    assert.deepEqual(includedAs('fastify'), ['installed']);
    assert.deepEqual(includedAs('graphql-ws'), ['installed', 'bundled']);
    assert.deepEqual(includedAs('graphql'), ['installed', 'bundled']);
    assert.deepEqual(includedAs('react-dom'), ['bundled']);
    // A tool uses another copy of the same version.
    assert.deepEqual(includedAs('chalk'), ['installed']);
    assert.deepEqual(includedAs('scheduler'), ['bundled']);
    for (const tool of ['oxlint', 'vite', 'typescript', '@types/node', 'espalier', '@espalier/client']) {
      assert.equal(includedAs(tool), undefined, tool);
    }
  });

  test('include every package of the lock file that is not a development dependency', () => {
    const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; dev?: true; link?: true }>;
    };
    const installed = Object.entries(lock)
      .filter(([path, { dev, link }]) => /node_modules\//.test(path) && !dev && !link)
      .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
    assert.ok(installed.length > 50, String(installed.length));
    assert.deepEqual(
      installed.filter((key) => !packages.has(key)),
      [],
    );
  });

  test('are rejected if their license is not permitted', async () => {
    assert.deepEqual(listRejectedLicenses(packages.values()), []);
    const copyleftPackage: ShippedPackage = {
      name: 'strict',
      version: '1.0.0',
      license: 'AGPL-3.0',
      includedAs: ['installed'],
    };
    assert.deepEqual(listRejectedLicenses([copyleftPackage]), [
      'strict 1.0.0 is under AGPL-3.0, which release/licenses.ts does not permit.',
    ]);
    assert.match(
      await createLicensePage([copyleftPackage]),
      /\| strict +\| 1\.0\.0 +\| AGPL-3\.0 +\| installed +\|/,
    );
  });

  test('need one permitted license of a choice, or permission for all combined licenses', () => {
    for (const [license, expected] of [
      ['(MPL-2.0 OR Apache-2.0)', true],
      ['MIT AND ISC', true],
      ['MIT AND GPL-3.0', false],
      ['unknown', false],
    ] as const) {
      assert.equal(isPermitted(license), expected, license);
    }
  });
});

describe('the software bill of materials', () => {
  test('is a CycloneDX document of the server with the license of every component', () => {
    assert.equal(sbom.bomFormat, 'CycloneDX');
    const { name, version } = sbom.metadata.component;
    assert.equal(sbom.metadata.component.purl, `pkg:npm/${name}@${version}`);
    assert.equal(name, 'espalier');
    for (const { name: component, purl, licenses } of sbom.components) {
      assert.ok(component && purl.startsWith('pkg:npm/') && licenses?.length, purl);
    }
  });

  test('lists every package of a release, and refers to no other package', () => {
    const listed = new Set(sbom.components.map((component) => component['bom-ref']));
    assert.equal(listed.size, sbom.components.length);
    for (const key of packages.keys()) assert.ok(listed.has(key), key);
    assert.equal(listed.size, packages.size + 4, 'only our four packages are listed as well');
    for (const { ref, dependsOn } of sbom.dependencies) {
      for (const each of [ref, ...dependsOn]) assert.ok(listed.has(each), each);
    }
  });
});

describe('the audit', () => {
  const url = 'https://github.com/advisories/GHSA-1';
  const names = new Set(['ws', 'fastify']);
  const output = (severity: string, name = 'ws') =>
    JSON.stringify({
      vulnerabilities: { [name]: { name, via: [{ url, title: 'It falls', severity }, 'other'] } },
    });

  test('fails for a high advisory and prints what to do', () => {
    const { isClean, lines } = evaluateAudit(output('high'), names, [], '2027-01-31');
    assert.equal(isClean, false);
    assert.equal(lines[0], `ws has a high advisory: It falls (${url})`);
    assert.match(lines[1]!, /release\/audit-exceptions\.json/);
  });

  test('passes for a moderate advisory and for an advisory about a tool', () => {
    for (const report of [output('moderate'), output('critical', 'vite')]) {
      assert.deepEqual(evaluateAudit(report, names, [], '2027-01-31'), {
        wasAudited: true,
        isClean: true,
        lines: [],
      });
    }
  });

  test('accepts an exception until its last day', () => {
    const exception = { advisory: url, reason: 'No client can reach it.', until: '2027-01-31' };
    assert.equal(evaluateAudit(output('high'), names, [exception], '2027-01-31').isClean, true);
    assert.equal(evaluateAudit(output('high'), names, [exception], '2027-02-01').isClean, false);
  });

  test('reports that nothing was audited if the registry cannot be reached', async () => {
    for (const [answer, why] of [
      ['{"message":"405 Method Not Allowed"}', '405 Method Not Allowed'],
      [undefined, 'it did not answer in time'],
      ['no JSON', 'it did not answer in time'],
      [await runAudit(root, '/there/is/no/npm'), 'it did not answer in time'],
    ] as const) {
      assert.deepEqual(evaluateAudit(answer, names, [], '2027-01-31'), {
        wasAudited: false,
        isClean: true,
        lines: [
          `NOT AUDITED: the audit service of the npm registry could not be reached (${why}). No package was checked for known vulnerabilities.`,
        ],
      });
    }
  });

  test('fails only with --required if the registry cannot be reached', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-audit-'));
    after(() => rmSync(folder, { recursive: true }));
    const sbomFile = join(folder, 'sbom.json');
    writeFileSync(sbomFile, JSON.stringify(sbom));
    const script = `#!/bin/sh\nif [ "$1" = sbom ]; then cat '${sbomFile}'; exit 0; fi\necho '{"message":"no route to host"}'\nexit 1\n`;
    writeFileSync(join(folder, 'npm'), script, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    for (const [args, code] of [
      [[], 0],
      [['--required'], 1],
    ] as const) {
      const command = ['--conditions=espalier-source', 'release/audit.ts', ...args];
      const result = await new Promise<{ code: unknown; errors: string }>((resolve) =>
        execFile(process.execPath, command, { cwd: root, env }, (error, _, errors) =>
          resolve({ code: error ? error.code : 0, errors }),
        ),
      );
      assert.equal(result.code, code);
      assert.match(result.errors, /^NOT AUDITED: .*\(no route to host\)/);
    }
  });
});
