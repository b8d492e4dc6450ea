/** Introspection with older releases of graphql-js, which code generators and editors often bundle. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as graphql15 from 'graphql-15.8';
import * as graphql16 from 'graphql-16.8';
import { databaseKinds } from '../support/databases.ts';
import { GraphTestbed } from '../support/graph-testbed.ts';
import { Testbed } from '../support/testbed.ts';

/** Each query has every option of its release, except one that graphql-js 16 renamed. */
const releases = {
  '15.8': {
    graphql: graphql15,
    query: graphql15.getIntrospectionQuery({
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
    }),
  },
  '16.8': {
    // The functions used here have the same signatures in both releases; the types of their values differ.
    graphql: graphql16 as unknown as typeof graphql15,
    query: graphql16.getIntrospectionQuery({
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
    }),
  },
};

for (const kind of databaseKinds) {
  describe(`introspection of a server on ${kind.name}`, () => {
    let graph: GraphTestbed;
    before(async () => {
      const testbed = await Testbed.start(kind);
      graph = new GraphTestbed(testbed, (await testbed.logIn()).authToken);
    });
    after(() => graph.stop());

    for (const [release, { graphql, query }] of Object.entries(releases)) {
      describe(`with graphql ${release}`, () => {
        test('returns only directive locations of that release', async () => {
          const { __schema } = await graph.query<graphql15.IntrospectionQuery>(query);
          assert.ok(__schema.directives.some(({ name }) => name === 'deprecated'));
          const expected: readonly string[] = Object.values(graphql.DirectiveLocation);
          for (const { name, locations } of __schema.directives) {
            assert.deepEqual(
              locations.filter((location) => !expected.includes(location)),
              [],
              name,
            );
          }
        });

        test('returns a schema that prints, parses and validates queries', async () => {
          const schema = graphql.buildClientSchema(await graph.query<graphql15.IntrospectionQuery>(query));
          graphql.assertValidSchema(schema);
          graphql.assertValidSchema(graphql.buildSchema(graphql.printSchema(schema)));
          // The printer leaves `@deprecated` out of an ordinary schema; code generators print it as well.
          graphql.parse(graphql.printIntrospectionSchema(schema));

          const errors = (text: string) => graphql.validate(schema, graphql.parse(text)).map(String);
          assert.deepEqual(errors('{folder{name folders{edges{node{name}}}}}'), []);
          assert.equal(errors('{folder{nothing}}').length, 1);
        });
      });
    }

    test('does not affect the validation of directives', async () => {
      const rejected = await graph.execute('{folder @deprecated {name}}');
      assert.match(rejected.errors![0]!.message, /"@deprecated" may not be used on FIELD/);
      assert.equal(rejected.errors![0]!.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
      assert.deepEqual(await graph.query('{folder{name @skip(if: true) __typename @include(if: true)}}'), {
        folder: { __typename: 'Folder' },
      });
    });
  });
}
