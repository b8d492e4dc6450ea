/** The actions that change second factors. Most require a proof of identity, which "copy as" omits. */

import type { PasskeyAnswer } from '@espalier/client';
import type { Action } from './action.ts';

/** Proves again who the viewer is. Missing for users who have neither a password nor a second factor. */
export type Proof =
  | { readonly password: string }
  | { readonly code: string }
  | { readonly passkey: PasskeyAnswer };

interface Input<Fields> {
  readonly input: Fields;
}

interface WithProof {
  readonly proof: Proof | undefined;
}

interface NewCodes {
  /** Null if the user had a second factor before. */
  readonly recoveryCodes: readonly string[] | null;
}

interface Ended {
  readonly endedSessions: number;
}

const secrets = ['proof', 'code', 'response'];

export const startTotpEnrolment: Action<
  Input<WithProof>,
  { startTotpEnrolment: { secret: string; uri: string } }
> = {
  label: 'Set up an authenticator app',
  document: /* GraphQL */ `
    mutation ($input: StartTotpEnrolmentInput!) {
      startTotpEnrolment(input: $input) {
        secret
        uri
      }
    }
  `,
  secrets,
};

export const confirmTotpEnrolment: Action<
  Input<{ code: string }>,
  { confirmTotpEnrolment: NewCodes & Ended }
> = {
  label: 'Confirm the authenticator app',
  document: /* GraphQL */ `
    mutation ($input: ConfirmTotpEnrolmentInput!) {
      confirmTotpEnrolment(input: $input) {
        recoveryCodes
        endedSessions
      }
    }
  `,
  secrets,
};

export const removeTotp: Action<Input<WithProof>, { removeTotp: Ended }> = {
  label: 'Remove the authenticator app',
  document: /* GraphQL */ `
    mutation ($input: RemoveTotpInput!) {
      removeTotp(input: $input) {
        endedSessions
      }
    }
  `,
  secrets,
};

export const createRecoveryCodes: Action<Input<WithProof>, { createRecoveryCodes: NewCodes }> = {
  label: 'Create recovery codes',
  document: /* GraphQL */ `
    mutation ($input: CreateRecoveryCodesInput!) {
      createRecoveryCodes(input: $input) {
        recoveryCodes
      }
    }
  `,
  secrets,
};

export const startPasskeyEnrolment: Action<
  Input<WithProof>,
  { startPasskeyEnrolment: { challengeId: string; options: object } }
> = {
  label: 'Start to add a passkey',
  document: /* GraphQL */ `
    mutation ($input: StartPasskeyEnrolmentInput!) {
      startPasskeyEnrolment(input: $input) {
        challengeId
        options
      }
    }
  `,
  secrets,
};

export const finishPasskeyEnrolment: Action<
  Input<{ challengeId: string; response: object; name: string }>,
  { finishPasskeyEnrolment: NewCodes & Ended }
> = {
  label: 'Add a passkey',
  document: /* GraphQL */ `
    mutation ($input: FinishPasskeyEnrolmentInput!) {
      finishPasskeyEnrolment(input: $input) {
        recoveryCodes
        endedSessions
      }
    }
  `,
  secrets,
};

export const renamePasskey: Action<
  Input<{ id: string; name: string }>,
  { renamePasskey: { passkey: { id: string } } }
> = {
  label: 'Rename passkey',
  document: /* GraphQL */ `
    mutation ($input: RenamePasskeyInput!) {
      renamePasskey(input: $input) {
        passkey {
          id
        }
      }
    }
  `,
};

export const removePasskey: Action<Input<{ id: string } & WithProof>, { removePasskey: Ended }> = {
  label: 'Remove passkey',
  document: /* GraphQL */ `
    mutation ($input: RemovePasskeyInput!) {
      removePasskey(input: $input) {
        endedSessions
      }
    }
  `,
  secrets,
};

export const resetSecondFactor: Action<Input<{ userId: string }>, { resetSecondFactor: Ended }> = {
  label: 'Reset second factor',
  document: /* GraphQL */ `
    mutation ($input: ResetSecondFactorInput!) {
      resetSecondFactor(input: $input) {
        endedSessions
      }
    }
  `,
  cliArguments: ({ input }) => ['user', 'reset-second-factor', `id:${input.userId}`],
};
