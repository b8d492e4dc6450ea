/** Reads the id of the key that signed an auth token. */

import type { LoginResponse } from '@espalier/contract';

export function readKeyId({ authToken }: Pick<LoginResponse, 'authToken'>): string {
  const [header] = authToken.split('.');
  return (JSON.parse(Buffer.from(header!, 'base64url').toString()) as { kid: string }).kid;
}
