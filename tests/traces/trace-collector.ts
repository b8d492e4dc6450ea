/** A trace collector for tests: it receives OTLP over HTTP as JSON and draws the spans. */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../support/eventually.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: SpanAttributes;
  readonly resource: SpanAttributes;
}

interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number | string;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
  };
}

type WrittenSpan = Omit<SentSpan, 'facts' | 'resource'> & { readonly attributes: readonly Attribute[] };

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[];
  }[];
}

export class TraceCollector {
  readonly spans: SentSpan[] = [];
  /** All received text. */
  text = '';
  readonly headers: IncomingHttpHeaders[] = [];
  storesSpans = true;
  /** Whether the collector receives data without a response. */
  isSilent = false;
  readonly #server: Server;

  static async start(port = 0): Promise<TraceCollector> {
    const collector = new TraceCollector();
    collector.#server.listen(port, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (this.storesSpans) {
          this.headers.push(request.headers);
          this.#record(Buffer.concat(chunks).toString());
        }
        if (!this.isSilent) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/v1/traces`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Waits for a trace with a server span of this name, and returns its spans. */
  async trace(name: string, index = 0): Promise<readonly SentSpan[]> {
    const findRoot = () => this.spans.filter((span) => span.name === name && span.kind === serverKind)[index];
    await eventually(() => findRoot() !== undefined, `a trace ${name}`);
    const { traceId } = findRoot()!;
    return this.spans.filter((span) => span.traceId === traceId);
  }

  #record(text: string): void {
    this.text += text;
    for (const { resource, scopeSpans } of (JSON.parse(text) as Body).resourceSpans) {
      for (const { attributes, ...span } of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          ...span,
          attributes: readAttributes(attributes),
          resource: readAttributes(resource.attributes),
        });
      }
    }
  }
}

const serverKind = 2;

function readAttributes(attributes: readonly Attribute[]): SpanAttributes {
  const valueOf = ({ stringValue, boolValue, doubleValue, intValue }: Attribute['value']) =>
    stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

/** Draws one line per span, indented below its parent, in the order of their start. */
export function drawSpans(spans: readonly SentSpan[]): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = (parentId: string | undefined, indent: string): string[] =>
    spans
      .filter(({ parentSpanId: id }) => (id !== undefined && ids.has(id) ? id : undefined) === parentId)
      .sort((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
      .flatMap(({ name, spanId }) => [indent + name, ...below(spanId, `${indent}  `)]);
  return below(undefined, '');
}
