/** Every rule of the contract over real HTTP, on every database. AT means auth token, RT means refresh token. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';
import { contractRows } from './contract-rows.ts';
import { graphScenarios } from './graph-scenarios.ts';
import { loginScenarios } from './login-scenarios.ts';
import { logoutScenarios } from './logout-scenarios.ts';
import { refreshScenarios } from './refresh-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { verifyScenarios } from './verify-scenarios.ts';

const tables: Readonly<Record<string, readonly Scenario[]>> = {
  '/login': loginScenarios,
  '/login/refresh': refreshScenarios,
  '/logout': logoutScenarios,
  '/login/verify': verifyScenarios,
  '/graphql': graphScenarios,
};
const scenarios = Object.values(tables).flat();

test('the scenarios cover every row of the contract', () => {
  const provenRows = new Set<string>(scenarios.flatMap(({ proves }) => proves));
  assert.deepEqual(
    Object.keys(contractRows).filter((row) => !provenRows.has(row)),
    [],
  );
});

test('the scenarios have unique titles', () => {
  assert.equal(new Set(scenarios.map(({ title }) => title)).size, scenarios.length);
});

/** Settings that must not change the contract. No scenario contacts the provider. */
const variants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'the contract': {},
  'the contract with single sign-on': {
    PUBLIC_URL: 'http://127.0.0.1:9',
    SSO_ISSUER: 'http://127.0.0.1:9',
    SSO_CLIENT_ID: 'espalier',
    SSO_CLIENT_SECRET: 'a secret for the contract',
  },
};

const suites = databaseKinds.flatMap((kind) =>
  Object.entries(variants).map(([name, settings]) => ({ kind, name, settings })),
);

for (const { kind, name, settings } of suites) {
  describe(`${name} on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => (testbed = await Testbed.start(kind, { settings: { DEMO: 'true', ...settings } })));
    after(() => testbed.stop());

    for (const [path, table] of Object.entries(tables)) {
      describe(path, () => {
        for (const { title, run } of table) test(title, () => run(testbed));
      });
    }
  });
}
