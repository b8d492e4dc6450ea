/** Checks that the certificate and its key are usable, match, and do not expire soon. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../clock.ts';
import type { CheckContext } from './check-context.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

const soonMs = 14 * 86_400_000;

export function* checkTls({ settings, clock }: CheckContext): Iterable<Finding> {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (!tlsCertFile || !tlsKeyFile) {
    yield ok('The server uses plain HTTP, because ESPALIER_TLS_CERT_FILE is not set.');
    return;
  }
  const [cert, key] = [attempt(tlsCertFile, certificatesIn), attempt(tlsKeyFile, createPrivateKey)];
  for (const [name, tried] of [
    ['ESPALIER_TLS_CERT_FILE', cert],
    ['ESPALIER_TLS_KEY_FILE', key],
  ] as const) {
    if (tried.error !== undefined) yield problem(`${name}: ${tried.error}`, 'Set it to a PEM file.');
  }
  if (!cert.value || !key.value) return;
  const [leaf, ...chain] = cert.value;
  if (!leaf!.checkPrivateKey(key.value)) {
    yield problem(
      `The key in ${tlsKeyFile} does not belong to the certificate in ${tlsCertFile}.`,
      'Put the certificate of the server first in the file, followed by those of its issuers.',
    );
    return;
  }
  const refused = attempt(tlsCertFile, (bytes) =>
    createSecureContext({ cert: bytes, key: readFileSync(tlsKeyFile) }),
  ).error;
  if (refused !== undefined)
    yield problem(refused, 'Create a new certificate and key. The key must be long enough.');
  else yield ok(`The certificate is for ${namesOf(leaf!)}, and the key belongs to it.`);
  yield ageOf(leaf!, clock);
  yield* checkChain([leaf!, ...chain]);
}

export function ageOf(
  { validFrom, validTo }: Pick<X509Certificate, 'validFrom' | 'validTo'>,
  clock: Clock,
): Finding {
  const now = clock.now();
  const end = Date.parse(validTo);
  const date = new Date(end).toISOString().slice(0, 10);
  if (Date.parse(validFrom) > now) {
    return problem(
      `The certificate is not valid before ${new Date(validFrom).toISOString()}.`,
      'Check the clock.',
    );
  }
  if (end <= now) return problem(`The certificate expired on ${date}.`, 'Renew it and restart the server.');
  const days = Math.floor((end - now) / 86_400_000);
  return end - now < soonMs
    ? warning(
        `The certificate expires in ${days === 1 ? 'a day' : `${days} days`}, on ${date}.`,
        'Renew it and restart the server.',
      )
    : ok(`The certificate is valid until ${date}.`);
}

function* checkChain(certificates: readonly X509Certificate[]): Iterable<Finding> {
  const [leaf] = certificates;
  if (leaf!.subject === leaf!.issuer && leaf!.verify(leaf!.publicKey)) {
    yield warning('The certificate is self-signed: clients trust it only if you configure them to.');
    return;
  }
  const wrong = certificates.slice(1).findIndex((issuer, index) => !certificates[index]!.checkIssued(issuer));
  if (wrong >= 0) {
    yield problem(
      `Certificate ${wrong + 2} in the file is not the issuer of certificate ${wrong + 1}.`,
      'Use the file with the full chain of your authority, in its original order.',
    );
  } else if (certificates.length === 1) {
    yield warning(
      'The file contains only the certificate of the server: clients may not know its issuer.',
      'Use the file with the full chain, often named fullchain.pem, unless a root authority issued the certificate.',
    );
  } else {
    yield ok(`The chain has ${certificates.length} certificates in the right order.`);
  }
}

function certificatesIn(bytes: Buffer): X509Certificate[] {
  const found = bytes.toString().match(/-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g);
  if (!found) throw new Error('it contains no certificate');
  return found.map((text) => new X509Certificate(text));
}

function attempt<T>(file: string, work: (bytes: Buffer) => T): { value?: T; error?: string } {
  try {
    return { value: work(readFileSync(file)) };
  } catch (error) {
    return { error: `Cannot use ${file}: ${(error as Error).message}.` };
  }
}

function namesOf({ subjectAltName, subject }: X509Certificate): string {
  const names = subjectAltName?.split(', ').map((name) => name.replace(/^[^:]+:/, ''));
  return names?.join(', ') ?? subject.replaceAll('\n', ', ');
}
