/** The mutations of second factors, for the test of repeated mutations. */

import { randomUUID } from 'node:crypto';
import { decodeBase32 } from '../second-factors/authenticator-app.ts';
import { FactorTestbed, origin, type AppUser } from '../second-factors/factor-testbed.ts';
import { SoftwareAuthenticator } from '../second-factors/software-authenticator.ts';
import type { IdempotencyTestbed, Scenario } from './idempotency-testbed.ts';

/** Passkeys need the address of the server for browsers. */
export const passkeySettings = { PUBLIC_URL: origin };

const factorsOf = ({ server, authToken }: IdempotencyTestbed) => new FactorTestbed(server, authToken);

/** Creates a user without a second factor. */
async function createPerson(testbed: IdempotencyTestbed) {
  const factors = factorsOf(testbed);
  const person = await factors.createUser({ username: randomUUID() });
  const { authToken } = await factors.logIn(person);
  return { factors, authToken, proof: { password: person.password } };
}

/** Creates a user with an authenticator app. */
async function createAppUser(testbed: IdempotencyTestbed) {
  const factors = factorsOf(testbed);
  const user: AppUser = await factors.createAppUser({ username: randomUUID() });
  const { authToken } = await factors.logInWithCode(user);
  return { factors, authToken, user, proof: { password: user.password } };
}

async function createPasskeyUser(testbed: IdempotencyTestbed) {
  const { factors, authToken, proof } = await createPerson(testbed);
  const { id } = await factors.addPasskey(authToken, proof);
  return { authToken, proof, id };
}

const otherProof = { proof: { password: 'something else' } };

export const secondFactorScenarios: Readonly<Record<string, Scenario>> = {
  startTotpEnrolment: {
    prepare: async (testbed) => {
      const { authToken, proof } = await createPerson(testbed);
      return { input: { proof }, authToken };
    },
    selection: 'expiresAt',
    other: 'any',
  },
  confirmTotpEnrolment: {
    prepare: async (testbed) => {
      const { factors, authToken, proof } = await createPerson(testbed);
      const { secret } = await factors.mutate<{ secret: string }>(
        'startTotpEnrolment',
        { proof },
        'secret',
        authToken,
      );
      return { input: { code: factors.code({ secret: decodeBase32(secret) }) }, authToken };
    },
    selection: 'endedSessions',
  },
  removeTotp: {
    prepare: async (testbed) => {
      const { authToken, proof } = await createAppUser(testbed);
      return { input: { proof }, authToken };
    },
    selection: 'endedSessions secondFactor{isEnrolled}',
    other: otherProof,
  },
  createRecoveryCodes: {
    prepare: async (testbed) => {
      const { authToken, proof } = await createAppUser(testbed);
      return { input: { proof }, authToken };
    },
    selection: 'secondFactor{recoveryCodesLeft}',
    other: otherProof,
  },
  startPasskeyEnrolment: {
    prepare: async (testbed) => {
      const { authToken, proof } = await createPerson(testbed);
      return { input: { proof }, authToken };
    },
    selection: 'expiresAt',
    other: 'any',
  },
  finishPasskeyEnrolment: {
    prepare: async (testbed) => {
      const { factors, authToken, proof } = await createPerson(testbed);
      const { challengeId, options } = await factors.startPasskey(authToken, proof);
      const response = new SoftwareAuthenticator(origin).create(options);
      return { input: { challengeId, response, name: 'Phone' }, authToken };
    },
    selection: 'passkey{id name} endedSessions',
  },
  renamePasskey: {
    prepare: async (testbed) => {
      const { authToken, id } = await createPasskeyUser(testbed);
      return { input: { id, name: 'Laptop' }, authToken };
    },
    selection: 'passkey{id name}',
  },
  removePasskey: {
    prepare: async (testbed) => {
      const { authToken, proof, id } = await createPasskeyUser(testbed);
      return { input: { id, proof }, authToken };
    },
    selection: 'endedSessions secondFactor{isEnrolled}',
    other: otherProof,
  },
  resetSecondFactor: {
    prepare: async (testbed) => ({ input: { userId: (await createAppUser(testbed)).user.id } }),
    selection: 'user{id hasSecondFactor} endedSessions',
  },
};
