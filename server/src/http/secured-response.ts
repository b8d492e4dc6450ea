/**
 * The headers that every answer bears, whoever writes it: ours, Fastify's, Node's own. They tell browsers to take an
 * answer for nothing else than what it says it is.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServerResponse as NodeResponse } from './node-http.ts';
import type { ReceivedRequest } from './received-request.ts';

/** What an answer of the API may do in a browser: nothing. */
const apiPolicy = "default-src 'none'; frame-ancestors 'none'";
const twoYearsSeconds = 63_072_000;

const headerLines = (policy: string, isTls: boolean): string =>
  [
    'x-content-type-options: nosniff',
    `content-security-policy: ${policy}`,
    'referrer-policy: no-referrer',
    'cross-origin-resource-policy: same-origin',
    // Behind a proxy, TLS is the proxy's, and so is this promise.
    ...(isTls ? [`strict-transport-security: max-age=${twoYearsSeconds}`] : []),
    '',
  ].join('\r\n');

/** For answers that are written to a bare socket. */
export const apiHeaderLines = headerLines(apiPolicy, false);

/** Of Node, and undocumented: tests/http-headers.test.ts would notice that it is gone. */
interface HeadWriter {
  readonly _storeHeader: (this: ServerResponse, firstLine: string, headers: unknown) => void;
}
const { _storeHeader: storeHead } = NodeResponse.prototype as unknown as HeadWriter;

/** A response with these headers; for the `ServerResponse` option of a server whose requests are `ReceivedRequest`s. */
export function securedResponse(isTls: boolean, version: string): typeof ServerResponse {
  const apiLines = headerLines(apiPolicy, isTls);
  const versionLine = `espalier-version: ${version}\r\n`;

  class SecuredResponse<Request extends IncomingMessage = IncomingMessage> extends NodeResponse<Request> {
    #lines = apiLines;

    /** A page may do what its own policy says. */
    servePage(policy: string): void {
      this.#lines = headerLines(policy, isTls);
    }

    /** Whole lines of an answer's own, to be written after these. */
    addLines(lines: string): void {
      this.#lines += lines;
    }

    /**
     * Written as one text, they cost a tenth of what headers cost (docs/decisions/0015-http-limits.md). Strangers are
     * not told the version unless they ask for /openapi.json: whoever tries every server there is looks for a banner.
     */
    _storeHeader(firstLine: string, headers: unknown): void {
      const isKnown = (this.req as unknown as ReceivedRequest).userId !== undefined;
      storeHead.call(this, firstLine + this.#lines + (isKnown ? versionLine : ''), headers);
    }
  }

  return SecuredResponse;
}

/** Lets a web page of ours load what its content security policy names. */
export function servePage(response: ServerResponse, policy: string): void {
  (response as ServerResponse & { servePage(policy: string): void }).servePage(policy);
}

/** Headers that are known to be good, each with its line end, without a look at each of them. */
export function addHeaderLines(response: ServerResponse, lines: string): void {
  (response as ServerResponse & { addLines(lines: string): void }).addLines(lines);
}
