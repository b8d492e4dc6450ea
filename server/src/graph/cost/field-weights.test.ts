import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIntrospectionType, isObjectType } from 'graphql';
import { createSchema } from '../schema/schema.ts';
import { weightOf, weights } from './field-weights.ts';

test('covers every root field and every field with arguments', () => {
  const schema = createSchema();
  const roots = [schema.getQueryType(), schema.getSubscriptionType()];
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  for (const type of types.filter((each) => !isIntrospectionType(each))) {
    for (const { name, args } of Object.values(type.getFields())) {
      if (type === schema.getMutationType()) assert.ok(weightOf(name, true) >= 5, name);
      else if (roots.includes(type) || args.length > 0) {
        assert.ok(Object.hasOwn(weights, name), `${type.name}.${name} has no weight`);
      }
    }
  }
});
