import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { AuthTokens } from './auth-token.ts';
import { clockSkewMs, KeyEncryption, publicationMs, SigningKeys } from './signing-keys.ts';

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

/** Waits until the read that the node has started is finished. */
const readToFinish = () => new Promise((resolve) => setImmediate(resolve));

/** A node with a simulated database. */
class TestNode {
  now = Date.parse('2026-03-01T12:00:00Z');
  elapsed = 0;
  reads = 0;
  errors = 0;
  keys!: SigningKeys;
  tokens!: AuthTokens;
  readonly #rows: readonly KeyRow[];
  isDatabaseDown = false;

  static async start(rows: readonly KeyRow[]): Promise<TestNode> {
    const node = new TestNode(rows);
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
    await readToFinish();
    if (this.isDatabaseDown) throw new Error('the database is down');
    return this.#rows.toSorted((a, b) => b.signsFrom - a.signsFrom);
  }
}

describe('a node', () => {
  let rows: KeyRow[];
  let node: TestNode;
  beforeEach(async () => {
    rows = [newRow(0)];
    node = await TestNode.start(rows);
  });
  const rotate = () => {
    const row = newRow(node.now + publicationMs);
    rows.push(row);
    return row;
  };
  const signedBy = async (key: KeyRow) => (await TestNode.start([{ ...key, signsFrom: 0 }])).issue();

  test('verifies with a new key immediately, and signs with it from its start time', async () => {
    const [old] = rows;
    const next = rotate();
    const earlyToken = await signedBy(next);
    await node.keys.reread();
    assert.ok(node.tokens.read(earlyToken));
    node.advance(publicationMs - 1);
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), old!.id);
    node.advance(1);
    assert.equal(kidOf(node.issue()), next.id);
    assert.ok(node.tokens.read(await signedBy(old!)));
  });

  test('signs with the newest active key, or with the oldest if none is active', async () => {
    const first = rotate();
    node.advance(1_000);
    const second = rotate();
    rows.shift();
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), first.id);
    node.advance(publicationMs);
    await node.keys.reread();
    assert.equal(kidOf(node.issue()), second.id);
  });

  test('keeps the same array of keys after a reread without changes', async () => {
    const { all } = node.keys;
    await node.keys.reread();
    assert.equal(node.keys.all, all);
    rotate();
    await node.keys.reread();
    assert.equal(node.keys.all.length, 2);
    assert.equal(node.keys.all[1], all[0]);
  });

  test('reads a key that was stored before reread(), even during another read', async () => {
    const firstRead = node.keys.reread();
    await Promise.resolve();
    const next = rotate();
    await node.keys.reread();
    await firstRead;
    assert.ok(node.keys.all.some(({ id }) => id === next.id));
    assert.equal(node.reads, 2);
  });

  test('rereads its keys after a token with an unknown key', async () => {
    const token = await signedBy(rotate());
    node.advance(1_000);
    assert.equal(node.tokens.read(token), undefined);
    await readToFinish();
    assert.ok(node.tokens.read(token));
    assert.equal(node.reads, 1);
  });

  test('rereads its keys at most once per second for thousands of unknown keys', async () => {
    const [header, ...rest] = node.issue().split('.');
    const unknownKeyToken = () => {
      const text = Buffer.from(header!, 'base64url').toString().replace(rows[0]!.id, randomUUID());
      return [Buffer.from(text).toString('base64url'), ...rest].join('.');
    };
    for (let second = 1; second <= 3; second++) {
      for (let part = 0; part < 10; part++) {
        node.advance(100);
        for (let count = 0; count < 100; count++)
          assert.equal(node.tokens.read(unknownKeyToken()), undefined);
        await readToFinish();
      }
      assert.equal(node.reads, second);
    }
    node.advance(1_000);
    void node.keys.reread();
    for (let count = 0; count < 100; count++) node.tokens.read(unknownKeyToken());
    await readToFinish();
    assert.equal(node.reads, 4);
  });

  test('does not reread its keys for a header that no node writes', async () => {
    const [header, payload, signature] = node.issue().split('.');
    node.advance(publicationMs);
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
    await readToFinish();
    assert.equal(node.reads, 0);
  });

  test('verifies tokens without the database, and rejects no unknown key', async () => {
    const ownToken = node.issue();
    node.isDatabaseDown = true;
    const token = await signedBy(rotate());
    // On a node whose clock is ahead, the new key can sign from this time on.
    node.advance(publicationMs - clockSkewMs);
    assert.throws(
      () => node.tokens.read(token),
      (error) =>
        error instanceof Refusal && error.code === 'UNAVAILABLE' && !!error.details.retryAfterSeconds,
    );
    await readToFinish();
    assert.equal(node.errors, 1);
    assert.ok(node.tokens.read(ownToken));
    assert.ok(node.tokens.read(await signedBy(rows[0]!)));
    assert.equal(node.tokens.read('rubbish'), undefined);

    node.isDatabaseDown = false;
    node.advance(1_000);
    assert.throws(() => node.tokens.read(token), Refusal);
    await readToFinish();
    assert.ok(node.tokens.read(token));
  });

  test('does not sign if its key may have stopped signing since the last read', async () => {
    node.isDatabaseDown = true;
    const next = rotate();
    node.advance(229_999);
    assert.equal(kidOf(node.issue()), rows[0]!.id);
    node.advance(1);
    const isUnavailable = (error: unknown) =>
      error instanceof Refusal && error.code === 'UNAVAILABLE' && error.details.retryAfterSeconds === 1;
    assert.throws(() => node.issue(), isUnavailable);
    await readToFinish();
    node.isDatabaseDown = false;
    node.advance(3_600_000);
    assert.throws(() => node.issue(), isUnavailable);
    await readToFinish();
    assert.equal(kidOf(node.issue()), next.id);
  });

  test('rejects a forged token that it accepted before it had read the next key', async () => {
    const [old] = rows;
    const before = node.issue();
    node.isDatabaseDown = true;
    rotate();
    node.advance(3_600_000);
    const other = await TestNode.start([old!]);
    other.now = node.now;
    const forged = other.issue();
    assert.ok(node.tokens.read(forged));
    node.isDatabaseDown = false;
    await node.keys.reread();
    assert.equal(node.tokens.read(forged), undefined);
    assert.equal(node.tokens.read(before)?.signingKeyId, old!.id);
  });

  test('keeps its keys if the database returns none', async () => {
    const token = node.issue();
    rows.length = 0;
    await assert.rejects(node.keys.reread(), /no signing key/);
    assert.ok(node.tokens.read(token));
    await assert.rejects(TestNode.start([]), /no signing key/);
  });
});
