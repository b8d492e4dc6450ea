/**
 * Checks that the generated pages match the code, and that a change of a setting, code, body, frame, metric or field
 * changes a page.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildSchema, extendSchema, parse, printSchema } from 'graphql';
import { bodies, closeCodes, endpoints, graphCodes, refusals } from '@espalier/contract';
import {
  createConfigurationReference,
  type SettingGroups,
} from '../../docs/generate/configuration-reference.ts';
import { createEndpointReference } from '../../docs/generate/endpoint-reference.ts';
import { createErrorReference } from '../../docs/generate/error-reference.ts';
import { formatPage } from '../../docs/generate/markdown.ts';
import { createFrameReference } from '../../docs/generate/frame-reference.ts';
import { generatedPages } from '../../docs/generate/generated-pages.ts';
import { createMetricsReference } from '../../docs/generate/metrics-reference.ts';
import { conversations } from '../../docs/generate/socket-conversations.ts';
import { settingGroups } from '../../server/src/config/settings-table.ts';
import { weights } from '../../server/src/graph/cost/cost.ts';
import { catalog } from '../../server/src/observability/metric-catalog.ts';
import { root } from './follow-page.ts';

const page = (path: string) => readFileSync(join(root, path), 'utf8');

for (const [path, write] of Object.entries(generatedPages)) {
  test(`${path} matches the code`, async () => {
    assert.equal(page(path), await formatPage(path, await write()));
  });
}

const errorTables = { refusals, graphCodes, closeCodes, endpoints };
const [group] = Object.entries<SettingGroups[string]>(settingGroups);
const [key, setting] = Object.entries(group![1])[0]!;
const withSetting = (changed: typeof setting) =>
  createConfigurationReference({ ...settingGroups, [group![0]]: { ...group![1], [key]: changed } });
const login = endpoints.login;

const changes: readonly [what: string, path: string, changed: () => string | Promise<string>][] = [
  ['a default', 'docs/reference/configuration.md', () => withSetting({ ...setting, default: 'another' })],
  [
    'the description of a setting',
    'docs/reference/configuration.md',
    () => withSetting({ ...setting, about: 'Another.' }),
  ],
  [
    'an additional setting',
    'docs/reference/configuration.md',
    () => createConfigurationReference({ ...settingGroups, More: { [key]: setting } }),
  ],
  [
    'a status',
    'docs/reference/endpoints.md',
    () =>
      createEndpointReference({
        ...endpoints,
        login: { ...login, refusals: { BAD_INPUT: { status: 422, when: '' } } },
      }),
  ],
  [
    'a field of a body',
    'docs/reference/endpoints.md',
    () =>
      createEndpointReference(endpoints, {
        ...bodies,
        Credentials: { ...bodies.Credentials, properties: { login: { type: 'string', description: '' } } },
      }),
  ],
  [
    'a refusal code',
    'docs/reference/errors.md',
    () => createErrorReference({ ...errorTables, refusals: { ...refusals, NEW: 'A new one' } }),
  ],
  [
    'a graph code',
    'docs/reference/errors.md',
    () => createErrorReference({ ...errorTables, graphCodes: { ...graphCodes, NEW: 'A new one' } }),
  ],
  [
    'a close code',
    'docs/reference/errors.md',
    () =>
      createErrorReference({
        ...errorTables,
        closeCodes: { ...closeCodes, NEW: { code: 4999, reason: '', when: '' } },
      }),
  ],
  [
    'a metric',
    'docs/reference/metrics.md',
    () => createMetricsReference({ ...catalog, ready: { ...catalog.ready, name: 'espalier_is_ready' } }),
  ],
  [
    'a label of a metric',
    'docs/reference/metrics.md',
    () => createMetricsReference({ ...catalog, logins: { ...catalog.logins, labels: { result: '' } } }),
  ],
  ['a frame', 'docs/reference/socket-frames.md', () => createFrameReference(conversations.slice(1))],
  [
    'a field of the schema',
    'contract/schema.graphql',
    () => {
      const schema = buildSchema(page('contract/schema.graphql'));
      return `${printSchema(extendSchema(schema, parse('extend type Folder { weight: Int }')))}\n`;
    },
  ],
];

for (const [what, path, changed] of changes) {
  test(`${path} changes if ${what} changes`, async () => {
    assert.notEqual(page(path), await formatPage(path, await changed()));
  });
}

test('docs/reference/limits.md lists the weight of every field', () => {
  const section = page('docs/reference/limits.md').split('### Weights of fields')[1]!.split('\n## ')[0]!;
  const listedWeights = [...section.matchAll(/^\| (\d+) +\| (.*) \|$/gm)].flatMap(([, weight, fields]) =>
    [...fields!.matchAll(/`(\w+)`/g)].map(([, field]) => [field!, Number(weight)] as const),
  );
  const weightsAboveOne = Object.entries(weights).filter(([, weight]) => weight > 1);
  assert.deepEqual(Object.fromEntries(listedWeights), Object.fromEntries(weightsAboveOne));
});

test('docs/reference/limits.md contains the default of every limit with a setting', () => {
  const lines = page('docs/reference/limits.md').split('\n');
  const formatNumber = (text: string) => {
    const number = Number(text);
    return number % 2 ** 20 === 0 ? `${number / 2 ** 20} MiB` : number.toLocaleString('en-US');
  };
  for (const limit of Object.values(settingGroups['Limits']!)) {
    const value = `| ${formatNumber(limit.default!)} `;
    const isListed = lines.some(
      (line) => line.includes(`\`ESPALIER_${limit.name}\` `) && line.includes(value),
    );
    assert.ok(isListed, limit.name);
  }
});
