/** What `npm run check` says of the schema, of licences and of advisories, and the bill of materials. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { askRegistry, judge } from '../../release/audit.ts';
import { isPermitted, licencePage, refusedLicences } from '../../release/licences.ts';
import { sbomOf } from '../../release/sbom.ts';
import { untoldBreaks } from '../../release/schema-breaks.ts';
import { shippedDependencies, type Dependency } from '../../release/shipped-dependencies.ts';

const root = join(import.meta.dirname, '../..');
const dependencies = shippedDependencies(root);

describe('the schema beside that of the last release', () => {
  const before = 'type Query { folder: String, icon: String }';
  const changelog = (part: string) =>
    `# Changelog\n\n## Unreleased\n\n${part}\n\n## 0.1.0\n\n### Breaking\n\n- Old.\n`;

  test('breaks clients when a field is gone, and that is said', () => {
    const after = 'type Query { folder: String }';
    assert.deepEqual(untoldBreaks(before, after, changelog('### Added')), ['Query.icon was removed.']);
  });

  test('may break them when the changelog says so', () => {
    const after = 'type Query { folder: String }';
    const told = changelog('### Breaking\n\n- Query.icon was removed. Use `folder`.');
    assert.deepEqual(untoldBreaks(before, after, told), []);
    const elsewhere = changelog('### Added\n\n- Query.icon was removed.');
    assert.deepEqual(untoldBreaks(before, after, elsewhere), ['Query.icon was removed.']);
  });

  test('breaks nobody with what is new or deprecated', () => {
    const after = 'type Query { folder: String @deprecated, icon: String, title: String }';
    assert.deepEqual(untoldBreaks(before, after, changelog('')), []);
  });
});

describe('what is handed on of others', () => {
  test('is what npm installs with the packages and what the console is built of, and no tool', () => {
    const comes = (name: string) => [...dependencies.values()].find((each) => each.name === name)?.comes;
    assert.deepEqual(comes('fastify'), ['installed']);
    assert.deepEqual(comes('graphql-ws'), ['installed', 'bundled']);
    assert.deepEqual(comes('graphql'), ['installed', 'bundled']);
    assert.deepEqual(comes('react-dom'), ['bundled']);
    assert.deepEqual(comes('scheduler'), ['bundled']);
    for (const tool of ['eslint', 'vite', 'typescript', '@types/node', 'espalier', '@espalier/client'])
      assert.equal(comes(tool), undefined, tool);
  });

  test('has everything that is no development dependency in the lock file', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; dev?: true; devOptional?: true; link?: true }>;
    };
    const installed = Object.entries(packages)
      .filter(
        ([place, { dev, devOptional, link }]) =>
          /node_modules\//.test(place) && !dev && !devOptional && !link,
      )
      .map(([place, { version }]) => `${place.replace(/^.*node_modules\//, '')}@${version}`);
    assert.ok(installed.length > 50, String(installed.length));
    assert.deepEqual(
      installed.filter((key) => !dependencies.has(key)),
      [],
    );
  });

  test('is refused under a licence that is not permitted', async () => {
    assert.deepEqual(refusedLicences(dependencies.values()), []);
    const copyleft: Dependency = {
      name: 'strict',
      version: '1.0.0',
      licence: 'AGPL-3.0',
      comes: ['installed'],
      needs: [],
    };
    assert.deepEqual(refusedLicences([copyleft]), [
      'strict 1.0.0 is under AGPL-3.0, which release/licences.ts does not permit.',
    ]);
    assert.match(await licencePage([copyleft]), /\| strict +\| 1\.0\.0 +\| AGPL-3\.0 +\| installed +\|/);
  });

  test('may be chosen under a permitted licence, and must be under all that hold together', () => {
    for (const [licence, expected] of [
      ['(MPL-2.0 OR Apache-2.0)', true],
      ['MIT AND ISC', true],
      ['MIT AND GPL-3.0', false],
      ['not told', false],
    ] as const)
      assert.equal(isPermitted(licence), expected, licence);
  });
});

describe('the software bill of materials', () => {
  const sbom = sbomOf('1.2.3', dependencies);

  test('has the fields that CycloneDX asks for', () => {
    assert.equal(sbom.bomFormat, 'CycloneDX');
    assert.equal(sbom.specVersion, '1.6');
    assert.match(
      sbom.serialNumber,
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.equal(sbom.metadata.component.purl, 'pkg:npm/espalier@1.2.3');
    for (const { type, name, version, purl, licenses } of sbom.components) {
      assert.equal(type, 'library');
      assert.ok(name && version && licenses[0]!.expression, purl);
      assert.equal(purl, `pkg:npm/${name.replace('@', '%40')}@${version}`);
    }
  });

  test('lists everything that is handed on, and names nothing that it does not list', () => {
    const listed = sbom.components.map((component) => component['bom-ref']);
    assert.deepEqual(listed, [...dependencies.keys()]);
    assert.equal(new Set(listed).size, listed.length);
    const known = new Set([...listed, 'espalier@1.2.3']);
    for (const { ref, dependsOn } of sbom.dependencies)
      for (const each of [ref, ...dependsOn]) assert.ok(known.has(each), each);
  });

  test('is the same whenever it is made', () => {
    assert.deepEqual(sbomOf('1.2.3', shippedDependencies(root)), sbom);
  });
});

describe('advisories', () => {
  const url = 'https://github.com/advisories/GHSA-1';
  const names = new Set(['ws', 'fastify']);
  const printed = (severity: string, name = 'ws') =>
    JSON.stringify({
      vulnerabilities: { [name]: { name, via: [{ url, title: 'It falls', severity }, 'other'] } },
    });

  test('that are high fail, with what to do', () => {
    const { isClean, lines } = judge(printed('high'), names, [], '2027-01-31');
    assert.equal(isClean, false);
    assert.equal(lines[0], `ws has a high advisory: It falls (${url})`);
    assert.match(lines[1]!, /release\/audit-exceptions\.json/);
  });

  test('that are moderate, or of a tool, fail nothing', () => {
    assert.deepEqual(judge(printed('moderate'), names, [], '2027-01-31'), {
      wasAudited: true,
      isClean: true,
      lines: [],
    });
    assert.deepEqual(judge(printed('critical', 'vite'), names, [], '2027-01-31'), {
      wasAudited: true,
      isClean: true,
      lines: [],
    });
  });

  test('have exceptions until a day', () => {
    const exception = { advisory: url, reason: 'Nobody can reach it.', until: '2027-01-31' };
    assert.equal(judge(printed('high'), names, [exception], '2027-01-31').isClean, true);
    assert.equal(judge(printed('high'), names, [exception], '2027-02-01').isClean, false);
  });

  test('are reported as not audited if the audit service cannot be reached', async () => {
    for (const [answer, why] of [
      ['{"message":"405 Method Not Allowed"}', '405 Method Not Allowed'],
      [undefined, 'it did not answer in time'],
      ['no JSON', 'it did not answer in time'],
      [await askRegistry(root, '/there/is/no/npm'), 'it did not answer in time'],
    ] as const) {
      assert.deepEqual(judge(answer, names, [], '2027-01-31'), {
        wasAudited: false,
        isClean: true,
        lines: [
          `NOT AUDITED: the audit service of the npm registry could not be reached (${why}). No package was checked for known vulnerabilities.`,
        ],
      });
    }
  });

  test('fail the required check, and not the ordinary one, if npm reaches no audit service', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-audit-'));
    after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho \'{"message":"no route to host"}\'\nexit 1\n', {
      mode: 0o755,
    });
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    for (const [args, code] of [
      [[], 0],
      [['--required'], 1],
    ] as const) {
      const command = ['--conditions=espalier-source', 'release/audit.ts', ...args];
      const ended = await new Promise<{ code: unknown; errors: string }>((resolve) =>
        execFile(process.execPath, command, { cwd: root, env }, (error, _, errors) =>
          resolve({ code: error ? error.code : 0, errors }),
        ),
      );
      assert.equal(ended.code, code);
      assert.match(ended.errors, /^NOT AUDITED: .*\(no route to host\)/);
    }
  });
});
