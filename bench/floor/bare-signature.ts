/** The answer to a login or a refresh as it was recorded, with a signature and a refresh token of its own each time. */

import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';

export function signAnew(recordedBody: string): () => string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const recorded = JSON.parse(recordedBody) as { readonly authToken: string };
  const signed = recorded.authToken.slice(0, recorded.authToken.lastIndexOf('.'));
  return () => {
    const signature = sign(null, Buffer.from(signed), privateKey).toString('base64url');
    return JSON.stringify({ ...recorded, authToken: `${signed}.${signature}`, refreshToken: randomUUID() });
  };
}
