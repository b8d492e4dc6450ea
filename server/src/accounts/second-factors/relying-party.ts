/**
 * The relying party of passkeys (https://www.w3.org/TR/webauthn-3/#relying-party): the host name and the origin of this server in
 * browsers. Both come from the settings only. The headers of a request are never used, because a proxy of an attacker sets them.
 */

import { isIP } from 'node:net';
import type { Settings } from '../../config/settings-table.ts';

export interface RelyingParty {
  /** The host name, to which passkeys are bound. */
  readonly id: string;
  /** Whether a page of this origin belongs to the server. */
  readonly isOwnOrigin: (origin: string) => boolean;
  /** Only for browsers on the machine of the server. */
  readonly isLocal: boolean;
}

type RelyingPartySettings = Pick<Settings, 'publicUrl' | 'port' | 'tlsCertFile'>;

/** Undefined if browsers offer no passkeys there: they require https, or a local server, and a host name. */
export function findRelyingParty({
  publicUrl,
  port,
  tlsCertFile,
}: RelyingPartySettings): RelyingParty | undefined {
  if (publicUrl === undefined) return localRelyingParty(port, tlsCertFile === undefined ? 'http' : 'https');
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isSecure = protocol === 'https:' || hostname === 'localhost';
  if (!isSecure || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  return { id: hostname, isOwnOrigin: (input) => input === origin, isLocal: false };
}

/** Without a public URL, only a browser on the same machine can use passkeys. Port 0 means that the system chooses the port. */
function localRelyingParty(port: number, scheme: string): RelyingParty {
  const own = new URL(`${scheme}://localhost:${port}`).origin;
  const isLocal = (input: string) => /^https?:\/\/localhost(:\d{1,5})?$/.test(input);
  const isOwnOrigin = port === 0 ? isLocal : (input: string) => input === own;
  return { id: 'localhost', isOwnOrigin, isLocal: true };
}
