/** Reads one field of a form, as OAuth 2.0 endpoints receive it. */

import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../refusal.ts';

export function readFormField({ headers, body }: FastifyRequest, name: string): string {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body with Content-Type: application/x-www-form-urlencoded.',
    );
  }
  const [value, ...more] = new URLSearchParams((body as Buffer | undefined)?.toString()).getAll(name);
  if (!value || more.length > 0)
    throw new Refusal('BAD_INPUT', `The body must contain the field ${name} exactly once.`);
  return value;
}
