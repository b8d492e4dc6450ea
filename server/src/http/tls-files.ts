/** The certificate and its key, tried out before anything else is started. */

import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { StartError } from '../start-error.ts';

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export function readTlsFiles(settings: {
  readonly tlsCertFile: string | undefined;
  readonly tlsKeyFile: string | undefined;
}): TlsFiles | undefined {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (!tlsCertFile || !tlsKeyFile) return undefined;
  const cert = read('ESPALIER_TLS_CERT_FILE', tlsCertFile);
  const key = read('ESPALIER_TLS_KEY_FILE', tlsKeyFile);
  attempt(`ESPALIER_TLS_CERT_FILE names ${tlsCertFile}, which holds no certificate that can be used`, {
    cert,
  });
  attempt(`ESPALIER_TLS_KEY_FILE names ${tlsKeyFile}, which holds no private key that can be used`, { key });
  attempt(`The key in ${tlsKeyFile} is not that of the certificate in ${tlsCertFile}`, { cert, key });
  return { cert, key };
}

function read(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new StartError(`${setting} names ${path}, which cannot be read: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function attempt(complaint: string, files: Partial<TlsFiles>): void {
  try {
    createSecureContext(files);
  } catch (cause) {
    throw new StartError(`${complaint}: ${(cause as Error).message}.`, { cause });
  }
}
