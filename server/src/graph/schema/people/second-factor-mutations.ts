/** The mutations that change the second factor of the viewer, and the reset by administrators. */

import type { InputFieldBuilder, ObjectFieldBuilder } from '@pothos/core';
import { requirePasskey, type Passkey as PasskeyRow } from '../../../accounts/second-factors/passkeys.ts';
import { requireUser } from '../../../accounts/users.ts';
import { builder, User, type ExtendedTypes } from '../builder.ts';
import { defineMutation, type MutationResponse } from '../mutation.ts';
import { toUserNode, type UserNode } from './people-batch.ts';
import { Passkey, SecondFactor, type SecondFactorShape } from './second-factors.ts';

const PasskeyProof = builder.inputType('PasskeyProofInput', {
  description: 'The response of an authenticator to a challenge of `POST /login/passkey/options`.',
  fields: (t) => ({
    challengeId: t.string({ required: true, description: 'The id of the challenge.' }),
    response: t.field({
      type: 'JSON',
      required: true,
      description: 'The response, an `AuthenticationResponseJSON` of WebAuthn.',
    }),
  }),
});

const Proof = builder.inputType('ProofInput', {
  description: 'Proves again who you are. Set exactly one field.',
  fields: (t) => ({
    password: t.string({ description: 'Your password.' }),
    code: t.string({
      description: 'A code of your authenticator app, or a recovery code, which is then used up.',
    }),
    passkey: t.field({ type: PasskeyProof, description: 'A response of one of your passkeys.' }),
  }),
});

const wrongProof =
  'FORBIDDEN if the proof is wrong. After 10 wrong codes or 50 other wrong proofs, UNAVAILABLE for some time, with `retryAfterSeconds`.';
const endsOthers = 'It also ends your other sessions.';
const onlyOnce = 'They are shown only here: a repeated request with the same idempotency key returns null.';

const proofInput = (t: InputFieldBuilder<ExtendedTypes, 'InputObject'>) => ({
  proof: t.field({
    type: Proof,
    description:
      'Required, except for users of single sign-on who have neither a password nor a second factor. The session of these users must have started within the last ten minutes.',
  }),
});

interface ChangePayload extends SecondFactorShape {
  readonly endedSessions: number;
  readonly recoveryCodes: readonly string[] | null;
}

const changeFields = <T extends Omit<ChangePayload, 'recoveryCodes'>>(
  t: ObjectFieldBuilder<ExtendedTypes, T>,
) => ({
  endedSessions: t.int({
    description: 'The number of other sessions that ended.',
    resolve: ({ endedSessions }) => endedSessions,
  }),
  secondFactor: t.field({
    type: SecondFactor,
    description: 'Your second factor after the change.',
    resolve: ({ userId }) => ({ userId }),
  }),
});

const codesField = <T extends Pick<ChangePayload, 'recoveryCodes'>>(
  t: ObjectFieldBuilder<ExtendedTypes, T>,
  description: string,
) =>
  t.field({
    type: ['String'],
    nullable: true,
    description,
    resolve: ({ recoveryCodes }) => recoveryCodes && [...recoveryCodes],
  });

const firstCodes = `The new recovery codes if this is your first factor, otherwise null. ${onlyOnce}`;

const viewerOf = ({ context: { viewer } }: MutationResponse): SecondFactorShape => ({
  userId: viewer.userId,
});

defineMutation('startTotpEnrolment', {
  description: `Start to set up an authenticator app, or to replace it. The existing app stays valid until you confirm the new one with \`confirmTotpEnrolment\`, in the same session and within ten minutes. ${wrongProof}`,
  input: proofInput,
  change: ({ secondFactors }, caller, input) => secondFactors.startTotp(caller, input),
  toPayload: (setup) => setup,
  payload: (t) => ({
    secret: t.exposeString('secret', {
      description: 'The secret in Base32, to enter it into an authenticator app.',
    }),
    uri: t.exposeString('uri', {
      description: 'The secret as a URI (`otpauth://totp/…`), to show it as a QR code.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the enrolment expires.' }),
  }),
});

defineMutation('confirmTotpEnrolment', {
  description:
    'Set up the authenticator app of the started enrolment. With your first factor, and if you replace an app, it also ends your other sessions. BAD_INPUT if the code is wrong. NOT_FOUND if there is no enrolment, or it has expired.',
  input: (t) => ({
    code: t.string({ required: true, description: 'The code that the app shows now.' }),
  }),
  change: ({ secondFactors }, caller, input) => secondFactors.confirmTotp(caller, input),
  toPayload: ({ endedSessions, recoveryCodes = null }, response): ChangePayload => ({
    ...viewerOf(response),
    endedSessions,
    recoveryCodes,
  }),
  payload: (t) => ({ recoveryCodes: codesField(t, firstCodes), ...changeFields(t) }),
});

defineMutation('removeTotp', {
  description: `Remove your authenticator app. ${endsOthers} With your last factor, also removes the recovery codes. CONFLICT if the operator requires a second factor and this is your last one. NOT_FOUND if you have no app. ${wrongProof}`,
  input: proofInput,
  change: ({ secondFactors }, caller, input) => secondFactors.removeTotp(caller, input),
  toPayload: (endedSessions, response) => ({ ...viewerOf(response), endedSessions }),
  payload: changeFields,
});

defineMutation('createRecoveryCodes', {
  description: `Create ten new recovery codes, and delete the old ones. CONFLICT if you have neither an authenticator app nor a passkey. ${wrongProof}`,
  input: proofInput,
  change: ({ secondFactors }, caller, input) => secondFactors.createRecoveryCodes(caller, input),
  toPayload: (codes, response): SecondFactorShape & Pick<ChangePayload, 'recoveryCodes'> => ({
    ...viewerOf(response),
    recoveryCodes: codes ?? null,
  }),
  payload: (t) => ({
    recoveryCodes: codesField(t, `The new recovery codes. ${onlyOnce}`),
    secondFactor: t.field({
      type: SecondFactor,
      description: 'Your second factor after the change.',
      resolve: ({ userId }) => ({ userId }),
    }),
  }),
});

defineMutation('startPasskeyEnrolment', {
  description: `Start to add a passkey. Pass \`options\` to \`navigator.credentials.create\`, and send the result with \`finishPasskeyEnrolment\`, in the same session and within five minutes. NOT_FOUND if the server is not configured for passkeys. ${wrongProof}`,
  input: proofInput,
  change: ({ secondFactors }, caller, input) => secondFactors.startPasskey(caller, input),
  toPayload: ({ options, ...request }) => ({ ...request, options: JSON.stringify(options) }),
  payload: (t) => ({
    challengeId: t.exposeString('challengeId', {
      description: 'The id of the challenge, for `finishPasskeyEnrolment`.',
    }),
    options: t.expose('options', {
      type: 'JSON',
      description: 'The options, a `PublicKeyCredentialCreationOptionsJSON` of WebAuthn.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the challenge expires.' }),
  }),
});

defineMutation('finishPasskeyEnrolment', {
  description:
    'Add a passkey. With your first factor, it also ends your other sessions. BAD_INPUT if the response is not accepted, for example because the challenge has expired, was used already, or belongs to another session. CONFLICT if the passkey is already registered, or if you have 20 passkeys.',
  input: (t) => ({
    challengeId: t.string({ required: true, description: 'The id of the challenge.' }),
    response: t.field({
      type: 'JSON',
      required: true,
      description: 'The response of the authenticator, a `RegistrationResponseJSON` of WebAuthn.',
    }),
    name: t.string({
      required: true,
      description: 'A name of 1 to 128 characters without control characters, for example of the device.',
    }),
  }),
  change: ({ secondFactors }, caller, input) => secondFactors.finishPasskey(caller, input),
  toPayload: async (
    { passkeyId, endedSessions, recoveryCodes = null },
    response,
  ): Promise<ChangePayload & { readonly passkey: PasskeyRow }> => {
    const { userId } = viewerOf(response);
    const passkey = await requirePasskey(response.context.reader, userId, passkeyId);
    return { userId, passkey, endedSessions, recoveryCodes };
  },
  payload: (t) => ({
    passkey: t.expose('passkey', { type: Passkey, description: 'The new passkey.' }),
    recoveryCodes: codesField(t, firstCodes),
    ...changeFields(t),
  }),
});

defineMutation('renamePasskey', {
  description: 'Rename one of your passkeys. NOT_FOUND if you have no passkey with this id.',
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the passkey.' }),
    name: t.string({
      required: true,
      description: 'A name of 1 to 128 characters without control characters.',
    }),
  }),
  change: ({ secondFactors }, caller, input) => secondFactors.renamePasskey(caller, input),
  toPayload: async (_, response, { id }) => ({
    passkey: await requirePasskey(response.context.reader, viewerOf(response).userId, id),
  }),
  payload: (t) => ({
    passkey: t.expose('passkey', { type: Passkey, description: 'The passkey after the change.' }),
  }),
});

defineMutation('removePasskey', {
  description: `Remove one of your passkeys. ${endsOthers} With your last factor, also removes the recovery codes. CONFLICT if the operator requires a second factor and this is your last one, or if it is your last way to sign in. NOT_FOUND if you have no passkey with this id. ${wrongProof}`,
  input: (t) => ({
    id: t.id({ required: true, description: 'The id of the passkey.' }),
    ...proofInput(t),
  }),
  change: ({ secondFactors }, caller, input) => secondFactors.removePasskey(caller, input),
  toPayload: (endedSessions, response) => ({ ...viewerOf(response), endedSessions }),
  payload: changeFields,
});

defineMutation('resetSecondFactor', {
  description:
    'Remove all second factors of another user, for example because the user lost the phone, and end all sessions of the user. Only for administrators. With an API key, FORBIDDEN for an administrator. CONFLICT for yourself, and if the user has no second factor.',
  input: (t) => ({ userId: t.id({ required: true, description: 'The id of the user.' }) }),
  change: ({ secondFactors }, caller, { userId }) => secondFactors.reset(caller, userId),
  toPayload: async (
    endedSessions,
    { context: { reader } },
    { userId },
  ): Promise<{ readonly user: UserNode; readonly endedSessions: number }> => ({
    user: toUserNode(await requireUser(reader, userId)),
    endedSessions,
  }),
  payload: (t) => ({
    user: t.expose('user', { type: User, description: 'The user after the change.' }),
    endedSessions: t.exposeInt('endedSessions', { description: 'The number of sessions that ended.' }),
  }),
});
