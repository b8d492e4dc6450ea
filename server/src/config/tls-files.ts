/** Reads the certificate of the server and its private key. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readInputBytes } from './read-setting.ts';
import type { Settings } from './settings-table.ts';
import { StartError } from './start-error.ts';

export type TlsFiles = ReturnType<typeof readTlsFiles>;

/** Reads the certificate and its key, and checks that they can be used together. */
export function readTlsFiles({ tlsCertFile, tlsKeyFile }: Settings) {
  if (!tlsCertFile || !tlsKeyFile) return undefined;
  const certName = `ESPALIER_TLS_CERT_FILE names ${tlsCertFile}`;
  const keyName = `ESPALIER_TLS_KEY_FILE names ${tlsKeyFile}`;
  const cert = readInputBytes('ESPALIER_TLS_CERT_FILE', tlsCertFile);
  const key = readInputBytes('ESPALIER_TLS_KEY_FILE', tlsKeyFile);
  orExplain(`${certName}, which contains no usable certificate`, () => createSecureContext({ cert }));
  orExplain(`${keyName}, which contains no usable private key`, () => createSecureContext({ key }));
  const mismatch = `The key in ${tlsKeyFile} does not belong to the certificate in ${tlsCertFile}`;
  orExplain(mismatch, () => createSecureContext({ cert, key }));
  // OpenSSL accepts a certificate and a key of different kinds, for example RSA and EC.
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new StartError(`${mismatch}.`);
  return { cert, key };
}

function orExplain<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new StartError(`${problem}: ${(cause as Error).message}.`, { cause });
  }
}
