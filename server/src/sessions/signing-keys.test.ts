import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { createAuthTokens, type AuthTokens } from './auth-token.ts';
import { createKeyEncryption } from './key-encryption.ts';
import { clockSkewMs, openSigningKeys, publishingMs, type SigningKeys } from './signing-keys.ts';

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

/** So that what a node has started to read is read. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A node whose database does what the test wants. */
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
    node.keys = await openSigningKeys({
      database: { all: () => node.#read() } as unknown as Reader,
      clock,
      encryption: createKeyEncryption(undefined),
      onError: () => node.errors++,
      stopwatch: () => node.elapsed,
    });
    const issuer = 'urn:test';
    node.tokens = createAuthTokens({ issuer, lifetimeSeconds: 600, clock, keys: node.keys });
    node.reads = 0;
    return node;
  }

  private constructor(rows: readonly KeyRow[]) {
    this.#rows = rows;
  }

  pass(ms: number): void {
    this.now += ms;
    this.elapsed += ms;
  }

  issue(): string {
    return this.tokens.issue('somebody', 'a session');
  }

  /** In the order in which the database gives them. */
  async #read(): Promise<KeyRow[]> {
    this.reads++;
    await settled();
    if (this.isCutOff) throw new Error('cut off');
    return this.#rows.toSorted((a, b) => b.signsFrom - a.signsFrom);
  }
}

describe('signing keys of a node', () => {
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

  test('a key signs from its time on, to the millisecond, and verifies before', async () => {
    const [old] = rows;
    const next = rotate();
    const early = await signedBy(next);
    await node.keys.reread();
    assert.ok(node.tokens.read(early));
    node.pass(publishingMs - 1);
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), old!.id);
    node.pass(1);
    assert.equal(kidOf(node.issue()), next.id);
    assert.ok(node.tokens.read(await signedBy(old!)));
  });

  test('of several that may sign the newest does; of none, the oldest', async () => {
    const first = rotate();
    node.pass(1_000);
    const second = rotate();
    rows.shift();
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), first.id);
    node.pass(publishingMs);
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), second.id);
  });

  test('rereading keeps the list as it is while there are no others', async () => {
    const { all } = node.keys;
    await node.keys.reread();
    assert.equal(node.keys.all, all);
    rotate();
    await node.keys.reread();
    assert.equal(node.keys.all.length, 2);
    assert.equal(node.keys.all[1], all[0]);
  });

  test('a key that was stored before a reread is known after it, whatever was under way', async () => {
    const begun = node.keys.reread();
    await Promise.resolve();
    const next = rotate();
    await node.keys.reread();
    await begun;
    assert.ok(node.keys.all.some(({ id }) => id === next.id));
    assert.equal(node.reads, 2);
  });

  test('a token of a key that is not known makes the node read; the next time it is', async () => {
    const token = await signedBy(rotate());
    node.pass(1_000);
    assert.equal(node.tokens.read(token), undefined);
    await settled();
    assert.ok(node.tokens.read(token));
    assert.equal(node.reads, 1);
  });

  test('whoever sends tokens of thousands of keys causes one read a second, and one at a time', async () => {
    const [header, ...rest] = node.issue().split('.');
    const strange = () => {
      const text = Buffer.from(header!, 'base64url').toString().replace(rows[0]!.id, randomUUID());
      return [Buffer.from(text).toString('base64url'), ...rest].join('.');
    };
    for (let second = 1; second <= 3; second++) {
      for (let part = 0; part < 10; part++) {
        node.pass(100);
        for (let count = 0; count < 100; count++) assert.equal(node.tokens.read(strange()), undefined);
        await settled();
      }
      assert.equal(node.reads, second);
    }
    node.pass(1_000);
    void node.keys.reread();
    for (let count = 0; count < 100; count++) node.tokens.read(strange());
    await settled();
    assert.equal(node.reads, 4);
  });

  test('what is not even a header of ours causes no read', async () => {
    const [header, payload, signature] = node.issue().split('.');
    node.pass(publishingMs);
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

  test('a node that is cut off goes on verifying, and does not say that a token of a new key is not good', async () => {
    const own = node.issue();
    node.isCutOff = true;
    const token = await signedBy(rotate());
    // The new key may sign as soon as this, on a node whose clock is ahead.
    node.pass(publishingMs - clockSkewMs);
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
    node.pass(1_000);
    assert.throws(() => node.tokens.read(token), Refusal);
    await settled();
    assert.ok(node.tokens.read(token));
  });

  test('a node that has not read for so long that its key may have stopped signing signs nothing until it has', async () => {
    node.isCutOff = true;
    const next = rotate();
    node.pass(229_999);
    assert.equal(kidOf(node.issue()), rows[0]!.id);
    node.pass(1);
    const isUnavailable = (error: unknown) =>
      error instanceof Refusal && error.code === 'UNAVAILABLE' && error.details.retryAfterSeconds === 1;
    assert.throws(() => node.issue(), isUnavailable);
    await settled();
    node.isCutOff = false;
    node.pass(3_600_000);
    assert.throws(() => node.issue(), isUnavailable);
    await settled();
    assert.equal(kidOf(node.issue()), next.id);
  });

  test('what a node took while it did not know that a key had stopped signing, it does not take afterwards', async () => {
    const [old] = rows;
    const before = node.issue();
    node.isCutOff = true;
    rotate();
    node.pass(3_600_000);
    const other = await Node.start([old!]);
    other.now = node.now;
    const forged = other.issue();
    assert.ok(node.tokens.read(forged));
    node.isCutOff = false;
    await node.keys.reread();
    assert.equal(node.tokens.read(forged), undefined);
    assert.equal(node.tokens.read(before)?.keyId, old!.id);
  });

  test('a database without any key is an error, and leaves the keys that are known', async () => {
    const token = node.issue();
    rows.length = 0;
    await assert.rejects(node.keys.reread(), /no signing key/);
    assert.ok(node.tokens.read(token));
    await assert.rejects(Node.start([]), /no signing key/);
  });
});
