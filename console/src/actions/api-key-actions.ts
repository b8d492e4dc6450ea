/** The actions that change API keys, and the action that converts a person to a service account. */

import { flagArguments, positionalArguments, type Action } from './action.ts';

export type KeyLevel = 'READ' | 'WRITE' | 'MANAGE';

export interface NewApiKey {
  /** Missing for a key of the viewer. */
  readonly userId?: string;
  readonly name: string;
  readonly level: KeyLevel;
  readonly folderId?: string;
  readonly isAdministrator?: boolean;
  /** An instant in ISO format. Missing if the key never expires. */
  readonly expiresAt?: string;
  readonly networks?: readonly string[];
}

/** The key in the result is a secret: it must not be stored, logged or put into an address. */
export const createApiKey: Action<
  { readonly input: NewApiKey },
  { createApiKey: { key: string | null; apiKey: { id: string; name: string } } }
> = {
  label: 'Create API key',
  document: /* GraphQL */ `
    mutation ($input: CreateApiKeyInput!) {
      createApiKey(input: $input) {
        key
        apiKey {
          id
          name
        }
      }
    }
  `,
  cliArguments: ({ input }) => [
    'key',
    'create',
    ...(input.userId === undefined ? [] : ['--user', `id:${input.userId}`]),
    ...(input.isAdministrator ? ['--administrator'] : ['--level', input.level.toLowerCase()]),
    ...(input.folderId === undefined ? [] : ['--folder', `id:${input.folderId}`]),
    ...(input.expiresAt === undefined ? ['--never-expires'] : ['--expires', input.expiresAt]),
    ...(input.networks ?? []).flatMap((network) => flagArguments('network', network)),
    ...positionalArguments(input.name),
  ],
};

export const revokeApiKey: Action<
  { readonly input: { readonly id: string } },
  { revokeApiKey: { apiKey: { id: string } } }
> = {
  label: 'Revoke API key',
  document: /* GraphQL */ `
    mutation ($input: RevokeApiKeyInput!) {
      revokeApiKey(input: $input) {
        apiKey {
          id
        }
      }
    }
  `,
  cliArguments: ({ input }) => ['key', 'revoke', input.id],
};

export const convertToServiceAccount: Action<
  { readonly input: { readonly userId: string } },
  { convertToServiceAccount: { user: { id: string; username: string } } }
> = {
  label: 'Convert to a service account',
  document: /* GraphQL */ `
    mutation ($input: ConvertToServiceAccountInput!) {
      convertToServiceAccount(input: $input) {
        user {
          id
          username
        }
      }
    }
  `,
  cliArguments: ({ input }) => ['user', 'convert-to-service', '--yes', `id:${input.userId}`],
};
