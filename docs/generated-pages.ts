/** The pages that are made from the code, by path, and how each is written. Nothing is read or written here. */

import { printSchema } from 'graphql';
import { createSchema } from '../server/src/graph/schema/schema.ts';
import { commandReference } from './command-reference.ts';
import { configurationReference } from './configuration-reference.ts';
import { endpointReference } from './endpoint-reference.ts';
import { errorReference } from './error-reference.ts';
import { frameReference } from './frame-reference.ts';
import { metricsReference } from './metrics-reference.ts';

export const generatedPages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/configuration.md': () => configurationReference(),
  'docs/cli.md': () => commandReference(),
  'docs/endpoints.md': () => endpointReference(),
  'docs/errors.md': () => errorReference(),
  'docs/socket-frames.md': () => frameReference(),
  'docs/metrics.md': () => metricsReference(),
  'contract/schema.graphql': () => `${printSchema(createSchema())}\n`,
};
