/** The pages that are made from the code, by path, and how each is written. Nothing is read or written here. */

import { printSchema } from 'graphql';
import { createSchema } from '../server/src/graph/schema/schema.ts';
import { createCommandReference } from './command-reference.ts';
import { createConfigurationReference } from './configuration-reference.ts';
import { createEndpointReference } from './endpoint-reference.ts';
import { createErrorReference } from './error-reference.ts';
import { frameReference } from './frame-reference.ts';
import { metricsReference } from './metrics-reference.ts';

export const generatedPages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/configuration.md': () => createConfigurationReference(),
  'docs/cli.md': () => createCommandReference(),
  'docs/endpoints.md': () => createEndpointReference(),
  'docs/errors.md': () => createErrorReference(),
  'docs/socket-frames.md': () => frameReference(),
  'docs/metrics.md': () => metricsReference(),
  'contract/schema.graphql': () => `${printSchema(createSchema())}\n`,
};
