/** Validates every GraphQL document of the console against the schema. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { buildSchema, Kind, NoUnusedFragmentsRule, parse, specifiedRules, validate } from 'graphql';

interface Template {
  readonly file: string;
  readonly name: string | undefined;
  readonly text: string;
  /** The names of the documents that are appended. */
  readonly fragmentNames: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const schema = buildSchema(readFileSync(join(root, 'contract/schema.graphql'), 'utf8'));
const marker = '/* GraphQL */';
const template = /(?:const (\w+) =\s*)?\/\* GraphQL \*\/ `([^`]*)`((?:\s*\+\s*\w+)*)/g;

function templatesOf(file: string): Template[] {
  const source = readFileSync(join(root, file), 'utf8');
  const templates = [...source.matchAll(template)].map(([, name, text, fragmentNames]) => ({
    file,
    name,
    text: text!,
    fragmentNames: fragmentNames!.match(/\w+/g) ?? [],
  }));
  assert.equal(
    templates.length,
    source.split(marker).length - 1,
    `${file}: the test cannot read every document`,
  );
  return templates;
}

describe('the GraphQL documents of the console', () => {
  const templates = globSync('console/src/**/*.{ts,tsx}', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap(templatesOf);
  const byName = new Map(templates.flatMap((each) => (each.name ? [[each.name, each.text]] : [])));
  const isFragment = ({ text }: Template) =>
    parse(text).definitions.every(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);

  test('exist and contain no interpolation', () => {
    assert.ok(templates.length > 20, `only ${templates.length}`);
    assert.deepEqual(
      templates.filter(({ text }) => text.includes('${')).map(({ file }) => file),
      [],
    );
  });

  test('are valid against the schema', () => {
    const rules = {
      operation: specifiedRules,
      fragment: specifiedRules.filter((rule) => rule !== NoUnusedFragmentsRule),
    };
    for (const each of templates) {
      const parts = each.fragmentNames.map((name) => {
        assert.ok(byName.has(name), `${each.file}: ${name} is not a document`);
        return byName.get(name);
      });
      const document = parse([each.text, ...parts].join('\n'));
      const errors = validate(schema, document, isFragment(each) ? rules.fragment : rules.operation);
      assert.deepEqual(
        errors.map(({ message }) => message),
        [],
        `${each.file}: ${each.text}`,
      );
    }
  });
});
