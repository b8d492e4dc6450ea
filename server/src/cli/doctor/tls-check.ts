/** Whether the certificate and its key can be used, belong together, and for how long. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../clock.ts';
import type { Examined } from './check-context.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

const soonMs = 14 * 86_400_000;

export function* checkTls({ settings, clock }: Examined): Iterable<Finding> {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (!tlsCertFile || !tlsKeyFile) {
    yield ok('The server speaks plain HTTP (no ESPALIER_TLS_CERT_FILE).');
    return;
  }
  const [cert, key] = [attempt(tlsCertFile, certificatesIn), attempt(tlsKeyFile, createPrivateKey)];
  for (const [name, tried] of [
    ['ESPALIER_TLS_CERT_FILE', cert],
    ['ESPALIER_TLS_KEY_FILE', key],
  ] as const) {
    if (tried.error !== undefined) yield problem(`${name}: ${tried.error}`, 'Give it a PEM file.');
  }
  if (!cert.value || !key.value) return;
  const [leaf, ...chain] = cert.value;
  if (!leaf!.checkPrivateKey(key.value)) {
    yield problem(
      `The key in ${tlsKeyFile} is not that of the certificate in ${tlsCertFile}.`,
      'The certificate of the server comes first in the file, those of its issuers follow.',
    );
    return;
  }
  const refused = attempt(tlsCertFile, (bytes) =>
    createSecureContext({ cert: bytes, key: readFileSync(tlsKeyFile) }),
  ).error;
  if (refused !== undefined)
    yield problem(refused, 'Make a new certificate and key, with a key that is long enough.');
  else yield ok(`The certificate is for ${namesOf(leaf!)}, and the key is that of it.`);
  yield ageOf(leaf!, clock);
  yield* checkChain([leaf!, ...chain]);
}

export function ageOf(
  { validFrom, validTo }: Pick<X509Certificate, 'validFrom' | 'validTo'>,
  clock: Clock,
): Finding {
  const now = clock.now();
  const end = Date.parse(validTo);
  const shown = new Date(end).toISOString().slice(0, 10);
  if (Date.parse(validFrom) > now) {
    return problem(
      `The certificate is good only from ${new Date(validFrom).toISOString()} on.`,
      'Check the clock.',
    );
  }
  if (end <= now)
    return problem(`The certificate has expired on ${shown}.`, 'Renew it, and restart the server.');
  const days = Math.floor((end - now) / 86_400_000);
  return end - now < soonMs
    ? warning(
        `The certificate expires in ${days === 1 ? 'a day' : `${days} days`}, on ${shown}.`,
        'Renew it, and restart the server.',
      )
    : ok(`The certificate is good until ${shown}.`);
}

function* checkChain(certificates: readonly X509Certificate[]): Iterable<Finding> {
  const [leaf] = certificates;
  if (leaf!.subject === leaf!.issuer && leaf!.verify(leaf!.publicKey)) {
    yield warning('The certificate is issued by itself: clients do not trust it unless they are told to.');
    return;
  }
  const wrong = certificates.slice(1).findIndex((issuer, place) => !certificates[place]!.checkIssued(issuer));
  if (wrong >= 0) {
    yield problem(
      `Certificate ${wrong + 2} in the file is not that of the issuer of the one before it.`,
      'Take the file with the full chain of your authority, in its order.',
    );
  } else if (certificates.length === 1) {
    yield warning(
      'The file holds no certificate but that of the server: clients may not know its issuer.',
      'Take the file with the full chain, often named fullchain.pem; unless your authority issues directly.',
    );
  } else {
    yield ok(`The chain has ${certificates.length} certificates, in their order.`);
  }
}

function certificatesIn(bytes: Buffer): X509Certificate[] {
  const found = bytes.toString().match(/-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g);
  if (!found) throw new Error('it holds no certificate');
  return found.map((text) => new X509Certificate(text));
}

function attempt<T>(file: string, work: (bytes: Buffer) => T): { value?: T; error?: string } {
  try {
    return { value: work(readFileSync(file)) };
  } catch (error) {
    return { error: `${file} cannot be used: ${(error as Error).message}.` };
  }
}

function namesOf({ subjectAltName, subject }: X509Certificate): string {
  const names = subjectAltName?.split(', ').map((name) => name.replace(/^[^:]+:/, ''));
  return names?.join(', ') ?? subject.replaceAll('\n', ', ');
}
