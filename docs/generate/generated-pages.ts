/** The path of each generated page, with the function that creates its text. */

import { printSchema } from 'graphql';
import { createSchema } from '../../server/src/graph/schema/schema.ts';
import { createCommandReference } from './command-reference.ts';
import { createConfigurationReference } from './configuration-reference.ts';
import { createEndpointReference } from './endpoint-reference.ts';
import { createErrorReference } from './error-reference.ts';
import { createFrameReference } from './frame-reference.ts';
import { createMetricsReference } from './metrics-reference.ts';
import { createSchemaReference } from './schema-reference.ts';

export const generatedPages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/configuration.md': () => createConfigurationReference(),
  'docs/reference/commands.md': () => createCommandReference(),
  'docs/reference/endpoints.md': () => createEndpointReference(),
  'docs/reference/errors.md': () => createErrorReference(),
  'docs/reference/schema.md': () => createSchemaReference(),
  'docs/reference/socket-frames.md': () => createFrameReference(),
  'docs/reference/metrics.md': () => createMetricsReference(),
  'contract/schema.graphql': () => `${printSchema(createSchema())}\n`,
};
