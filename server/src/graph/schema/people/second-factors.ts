/** The second factor of the viewer. Administrators see only whether a user has one. */

import { isFactorRequired, readTotp } from '../../../accounts/second-factors/factors.ts';
import { listPasskeys, type Passkey as PasskeyRow } from '../../../accounts/second-factors/passkeys.ts';
import { countRecoveryCodes } from '../../../accounts/second-factors/recovery-codes.ts';
import { readPasswordHash } from '../../../accounts/passwords.ts';
import { noPassword, requireUser } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { requireSession } from '../../../sessions/auth-token.ts';
import { personalField } from '../../field-marks.ts';
import { builder } from '../builder.ts';
import { chargeList } from '../charges.ts';
import { requireAccountDetails, Viewer } from './people-types.ts';

/** The user whose second factor it is. */
export interface SecondFactorShape {
  readonly userId: string;
}

export const Passkey = builder.objectRef<PasskeyRow>('Passkey').implement({
  description: 'A passkey of the viewer. It logs in without a password.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, a UUID that never changes.' }),
    name: t.exposeString('name', { description: 'The name that the user chose.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the passkey was added.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the last use. Null if it was not used yet.',
    }),
    isSynced: t.exposeBoolean('isSynced', {
      description:
        'Whether the user can use the passkey on several devices, for example through a password manager.',
    }),
  }),
});

export const SecondFactor = builder.objectRef<SecondFactorShape>('SecondFactor').implement({
  description: 'The second factor of the viewer: an authenticator app, passkeys, and recovery codes.',
  fields: (t) => ({
    isEnrolled: t.boolean({
      description:
        'Whether the viewer has an authenticator app or a passkey. The password alone is then not enough to log in.',
      resolve: ({ userId }, _, { reader }) =>
        whenDone(requireUser(reader, userId), ({ secondFactorAt }) => secondFactorAt !== null),
    }),
    isRequired: t.boolean({
      description:
        'Whether the viewer needs a second factor to log in with a password (`ESPALIER_SECOND_FACTOR`).',
      resolve: ({ userId }, _, { reader, secondFactors: { policy } }) =>
        whenDone(requireUser(reader, userId), (user) => isFactorRequired(policy, user)),
    }),
    hasPassword: t.boolean({
      description:
        'Whether the viewer has a password. It is one of the proofs for changes of second factors. Users whom single sign-on created have none.',
      resolve: ({ userId }, _, { reader }) =>
        whenDone(readPasswordHash(reader, userId), (hash) => hash !== noPassword),
    }),
    totpSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the authenticator app was set up. Null without one.',
      resolve: ({ userId }, _, { reader }) =>
        whenDone(readTotp(reader, userId), (totp) => totp?.createdAt ?? null),
    }),
    recoveryCodesLeft: t.int({
      description: 'The number of unused recovery codes.',
      resolve: ({ userId }, _, { reader }) => countRecoveryCodes(reader, userId),
    }),
    passkeys: t.field({
      type: [Passkey],
      description: 'The passkeys, oldest first: at most 20.',
      resolve: chargeList(({ userId }, { reader }) => listPasskeys(reader, userId)),
    }),
    passkeyHost: t.string({
      nullable: true,
      description:
        'The host name in the address of the console at which browsers offer passkeys. Null if the server is not configured for passkeys.',
      resolve: (_, __, { secondFactors }) => secondFactors.relyingParty?.id ?? null,
    }),
  }),
});

builder.objectField(Viewer, 'secondFactor', (t) =>
  t.field({
    type: SecondFactor,
    extensions: personalField,
    description: 'Your second factor. FORBIDDEN in a view, and for API keys.',
    resolve: (viewer, _, { access }) => {
      requireSession(viewer);
      requireAccountDetails(viewer, access);
      return { userId: viewer.userId };
    },
  }),
);
