/**
 * Runs as a child process: opens many sockets with one subscription each, and counts the changes that every socket
 * receives.
 */

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { serveParent } from './child-handlers.ts';

export interface OpenInput {
  readonly url: string;
  readonly document: string;
  /** One for each socket. */
  readonly subscribers: readonly { readonly authToken: string; readonly variables: object }[];
}

export interface DeliverInput {
  readonly url: string;
  readonly authToken: string;
  readonly parentId: string;
  /** Names of the folders to create, one after the other. */
  readonly names: readonly string[];
}

interface Frame {
  readonly type: string;
  readonly payload?: { readonly data?: { readonly folderChanges?: { readonly kind: string } } };
}

const concurrentOpens = 50;
const deliveryTimeoutMs = 60_000;
const createFolderMutation = 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id}}}';

class Subscriber {
  readonly #socket: WebSocket;
  #onReply: (type: string) => void = () => undefined;
  receivedCount = 0;

  constructor(url: string) {
    this.#socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
    // An error is followed by a close.
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.#onReply('close');
      onProblem('A socket was closed.');
    });
    this.#socket.on('message', (data: Buffer) => this.#read(JSON.parse(data.toString()) as Frame));
  }

  async subscribe(document: string, { authToken, variables }: OpenInput['subscribers'][number]) {
    await once(this.#socket, 'open');
    await this.#exchange({ type: 'connection_init', payload: { authorization: `Bearer ${authToken}` } });
    this.#send({ id: '1', type: 'subscribe', payload: { query: document, variables } });
    await this.ping();
  }

  /** When this resolves, the socket has received all frames that the server sent before the pong. */
  ping(): Promise<void> {
    return this.#exchange({ type: 'ping' });
  }

  async close(): Promise<void> {
    const closeEvent = once(this.#socket, 'close');
    this.#socket.close();
    await closeEvent;
  }

  #read({ type, payload }: Frame): void {
    if (type === 'connection_ack' || type === 'pong') return this.#onReply(type);
    if (payload?.data?.folderChanges?.kind !== 'CREATE') {
      return onProblem(`A socket received ${type} ${JSON.stringify(payload)}.`);
    }
    this.receivedCount++;
    onDelivery();
  }

  async #exchange(message: object): Promise<void> {
    const reply = new Promise<string>((resolve) => (this.#onReply = resolve));
    this.#send(message);
    if ((await reply) === 'close') throw new Error('A socket was closed.');
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}

const subscribers: Subscriber[] = [];
let onDelivery: () => void = () => undefined;
let onProblem: (problem: string) => void = () => undefined;

serveParent({ open, deliver, check, close }, () => undefined);

async function open({ url, document, subscribers: inputs }: OpenInput): Promise<void> {
  const remainingInputs = [...inputs];
  const openNext = async () => {
    for (let next = remainingInputs.pop(); next; next = remainingInputs.pop()) {
      const subscriber = new Subscriber(url);
      await subscriber.subscribe(document, next);
      subscribers.push(subscriber);
    }
  };
  await Promise.all(Array.from({ length: concurrentOpens }, openNext));
}

/** Creates the folders and waits until every socket has received every change. */
async function deliver({ names, ...input }: DeliverInput): Promise<{ elapsedMs: number }> {
  for (const subscriber of subscribers) subscriber.receivedCount = 0;
  const start = performance.now();
  for (const name of names) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let remaining = subscribers.length;
    onDelivery = () => void (--remaining === 0 && resolve());
    onProblem = (problem) => reject(new Error(problem));
    const timer = setTimeout(
      () => onProblem(`${remaining} sockets did not receive ${name}.`),
      deliveryTimeoutMs,
    );
    await createFolder({ ...input, name });
    await promise;
    clearTimeout(timer);
  }
  return { elapsedMs: performance.now() - start };
}

/** Fails unless every socket received exactly the expected number of changes. */
async function check(expected: number): Promise<void> {
  await Promise.all(subscribers.map((subscriber) => subscriber.ping()));
  const wrongSubscriber = subscribers.find(({ receivedCount }) => receivedCount !== expected);
  if (wrongSubscriber)
    throw new Error(`A socket received ${wrongSubscriber.receivedCount} changes instead of ${expected}.`);
}

async function close(): Promise<void> {
  onProblem = () => undefined;
  await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.close()));
}

async function createFolder(input: Omit<DeliverInput, 'names'> & { readonly name: string }): Promise<void> {
  const { url, authToken, parentId, name } = input;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${authToken}` },
    body: JSON.stringify({ query: createFolderMutation, variables: { input: { parentId, name } } }),
  });
  const { errors } = (await response.json()) as { errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
}
