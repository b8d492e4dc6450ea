import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { AuthTokens } from './auth-token.ts';
import { clockSkewMs, KeyEncryption, publishingMs, SigningKeys } from './signing-keys.ts';

interface KeyRow {
  readonly id: string;
  readonly privateKey: Uint8Array;
  readonly publicKey: null;
  readonly sealedWith: null;
  readonly createdAt: number;
  readonly signsFrom: number;
}

const newRow = (signsFrom: number): KeyRow => ({
  id: randomUUID(),
  signsFrom,
  createdAt: 0,
  sealedWith: null,
  publicKey: null,
  privateKey: generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }),
});
const kidOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;

/** Waits until the node has finished the read that it started. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A node with a simulated database. */
class Node {
  now = Date.parse('2026-03-01T12:00:00Z');
  elapsed = 0;
  reads = 0;
  errors = 0;
  keys!: SigningKeys;
  tokens!: AuthTokens;
  readonly #rows: readonly KeyRow[];
  isCutOff = false;

  static async start(rows: readonly KeyRow[]): Promise<Node> {
    const node = new Node(rows);
    const clock = { now: () => node.now };
    node.keys = await SigningKeys.open({
      database: { all: () => node.#read() } as unknown as Reader,
      clock,
      encryption: new KeyEncryption(undefined),
      onError: () => node.errors++,
      stopwatch: () => node.elapsed,
    });
    const issuer = 'urn:test';
    node.tokens = new AuthTokens({ issuer, lifetimeSeconds: 600, clock, keys: node.keys });
    node.reads = 0;
    return node;
  }

  private constructor(rows: readonly KeyRow[]) {
    this.#rows = rows;
  }

  advance(ms: number): void {
    this.now += ms;
    this.elapsed += ms;
  }

  issue(): string {
    return this.tokens.issue('somebody', 'a session');
  }

  /** In the order of the database. */
  async #read(): Promise<KeyRow[]> {
    this.reads++;
    await settled();
    if (this.isCutOff) throw new Error('cut off');
    return this.#rows.toSorted((a, b) => b.signsFrom - a.signsFrom);
  }
}

describe('the signing keys of a node', () => {
  let rows: KeyRow[];
  let node: Node;
  beforeEach(async () => {
    rows = [newRow(0)];
    node = await Node.start(rows);
  });
  const rotate = () => {
    const row = newRow(node.now + publishingMs);
    rows.push(row);
    return row;
  };
  const signedBy = async (key: KeyRow) => (await Node.start([{ ...key, signsFrom: 0 }])).issue();

  test('sign from their start time, and verify even before it', async () => {
    const [old] = rows;
    const next = rotate();
    const early = await signedBy(next);
    await node.keys.reread();
    assert.ok(node.tokens.read(early));
    node.advance(publishingMs - 1);
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), old!.id);
    node.advance(1);
    assert.equal(kidOf(node.issue()), next.id);
    assert.ok(node.tokens.read(await signedBy(old!)));
  });

  test('sign with the newest active key, or with the oldest if none is active', async () => {
    const first = rotate();
    node.advance(1_000);
    const second = rotate();
    rows.shift();
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), first.id);
    node.advance(publishingMs);
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), second.id);
  });

  test('keep the same array after a reread without changes', async () => {
    const { all } = node.keys;
    await node.keys.reread();
    assert.equal(node.keys.all, all);
    rotate();
    await node.keys.reread();
    assert.equal(node.keys.all.length, 2);
    assert.equal(node.keys.all[1], all[0]);
  });

  test('include a key that was stored before the reread, even if another read was in progress', async () => {
    const begun = node.keys.reread();
    await Promise.resolve();
    const next = rotate();
    await node.keys.reread();
    await begun;
    assert.ok(node.keys.all.some(({ id }) => id === next.id));
    assert.equal(node.reads, 2);
  });

  test('are reread after a token with an unknown key', async () => {
    const token = await signedBy(rotate());
    node.advance(1_000);
    assert.equal(node.tokens.read(token), undefined);
    await settled();
    assert.ok(node.tokens.read(token));
    assert.equal(node.reads, 1);
  });

  test('are reread at most once per second for thousands of unknown keys', async () => {
    const [header, ...rest] = node.issue().split('.');
    const strange = () => {
      const text = Buffer.from(header!, 'base64url').toString().replace(rows[0]!.id, randomUUID());
      return [Buffer.from(text).toString('base64url'), ...rest].join('.');
    };
    for (let second = 1; second <= 3; second++) {
      for (let part = 0; part < 10; part++) {
        node.advance(100);
        for (let count = 0; count < 100; count++) assert.equal(node.tokens.read(strange()), undefined);
        await settled();
      }
      assert.equal(node.reads, second);
    }
    node.advance(1_000);
    void node.keys.reread();
    for (let count = 0; count < 100; count++) node.tokens.read(strange());
    await settled();
    assert.equal(node.reads, 4);
  });

  test('are not reread for a header that this service never writes', async () => {
    const [header, payload, signature] = node.issue().split('.');
    node.advance(publishingMs);
    const other = (text: string) => `${Buffer.from(text).toString('base64url')}.${payload}.${signature}`;
    for (const token of [
      '',
      'x',
      '..',
      `${header}x.${payload}.${signature}`,
      other('{}'),
      other(`{"alg":"none","typ":"at+jwt","kid":"${randomUUID()}"}`),
      other(`{"alg":"EdDSA","typ":"at+jwt","kid":"1"}`),
      other(`{"alg":"EdDSA","typ":"at+jwt","kid":"${randomUUID()}","crit":[]}`),
    ]) {
      assert.equal(node.tokens.read(token), undefined, token);
    }
    await settled();
    assert.equal(node.reads, 0);
  });

  test('keep verifying without the database, and do not reject tokens with an unknown key', async () => {
    const own = node.issue();
    node.isCutOff = true;
    const token = await signedBy(rotate());
    // On a node whose clock is ahead, the new key can sign from this time on.
    node.advance(publishingMs - clockSkewMs);
    assert.throws(
      () => node.tokens.read(token),
      (error) =>
        error instanceof Refusal && error.code === 'UNAVAILABLE' && !!error.details.retryAfterSeconds,
    );
    await settled();
    assert.equal(node.errors, 1);
    assert.ok(node.tokens.read(own));
    assert.ok(node.tokens.read(await signedBy(rows[0]!)));
    assert.equal(node.tokens.read('rubbish'), undefined);

    node.isCutOff = false;
    node.advance(1_000);
    assert.throws(() => node.tokens.read(token), Refusal);
    await settled();
    assert.ok(node.tokens.read(token));
  });

  test('do not sign if the last read is so old that the key may have stopped signing', async () => {
    node.isCutOff = true;
    const next = rotate();
    node.advance(229_999);
    assert.equal(kidOf(node.issue()), rows[0]!.id);
    node.advance(1);
    const isUnavailable = (error: unknown) =>
      error instanceof Refusal && error.code === 'UNAVAILABLE' && error.details.retryAfterSeconds === 1;
    assert.throws(() => node.issue(), isUnavailable);
    await settled();
    node.isCutOff = false;
    node.advance(3_600_000);
    assert.throws(() => node.issue(), isUnavailable);
    await settled();
    assert.equal(kidOf(node.issue()), next.id);
  });

  test('reject tokens that were accepted before the node knew the next key', async () => {
    const [old] = rows;
    const before = node.issue();
    node.isCutOff = true;
    rotate();
    node.advance(3_600_000);
    const other = await Node.start([old!]);
    other.now = node.now;
    const forged = other.issue();
    assert.ok(node.tokens.read(forged));
    node.isCutOff = false;
    await node.keys.reread();
    assert.equal(node.tokens.read(forged), undefined);
    assert.equal(node.tokens.read(before)?.keyId, old!.id);
  });

  test('keep the known keys if the database returns none', async () => {
    const token = node.issue();
    rows.length = 0;
    await assert.rejects(node.keys.reread(), /no signing key/);
    assert.ok(node.tokens.read(token));
    await assert.rejects(Node.start([]), /no signing key/);
  });
});
