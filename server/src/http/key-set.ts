/** The public keys, for other services that verify auth tokens by themselves. */

import { createHash } from 'node:crypto';
import { endpoints, type KeySet } from '@espalier/contract';
import type { FastifyInstance } from 'fastify';
import { publicKeysHoldSeconds, type SigningKey, type SigningKeys } from '../sessions/signing-keys.ts';
import { addEndpoint } from './endpoint-route.ts';

export function addKeySet(app: FastifyInstance, keys: SigningKeys): void {
  let listed: readonly SigningKey[] = [];
  let body = '';
  let entityTag = '';

  addEndpoint(app, endpoints.keySet, ({ headers }, reply) => {
    if (listed !== keys.all) {
      listed = keys.all;
      body = JSON.stringify(toKeySet(listed));
      entityTag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    }
    reply.header('cache-control', `public, max-age=${publicKeysHoldSeconds}`).header('etag', entityTag);
    if (headers['if-none-match']?.includes(entityTag)) return reply.code(304).send();
    return reply.header('content-type', 'application/json; charset=utf-8').send(body);
  });
}

function toKeySet(keys: readonly SigningKey[]): KeySet {
  return {
    keys: keys.map(({ id, publicKey }) => {
      const { x = '' } = publicKey.export({ format: 'jwk' });
      return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: id, x };
    }),
  };
}
