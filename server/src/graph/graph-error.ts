/** A GraphQL error as it is sent: with a code of the closed list. */

import type { GraphCode } from '@espalier/contract';
import type { GraphQLError, GraphQLFormattedError } from 'graphql';

export function coded(
  error: GraphQLError,
  code: GraphCode,
  facts?: Readonly<Record<string, string | number>>,
): GraphQLFormattedError {
  return { ...error.toJSON(), extensions: { code, ...facts } };
}
