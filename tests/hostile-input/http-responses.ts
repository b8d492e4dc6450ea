/** Parses the HTTP responses of a connection, and the WebSocket frames of the server after an upgrade. */

export interface HttpResponse {
  readonly status: number;
  readonly head: string;
  /** After an upgrade: everything that the server sent. */
  readonly body: string;
  /** After an upgrade: the close code of the server, if it closed. */
  readonly closeCode?: number;
}

const headEnd = '\r\n\r\n';
const invalidResponse = 'the response is not valid HTTP';

/** Reads all responses; the last one may be incomplete. */
export function readResponses(received: Buffer): HttpResponse[] {
  const responses: HttpResponse[] = [];
  let rest = received.toString('latin1');
  while (rest.length > 0) {
    const parsed = parseResponse(rest, true);
    if (!parsed) break;
    responses.push(parsed.response);
    rest = rest.slice(parsed.length);
  }
  return responses;
}

/** Returns the first response if it is complete. */
export function readFirstResponse(received: Buffer): HttpResponse | undefined {
  return parseResponse(received.toString('latin1'), false)?.response;
}

function parseResponse(
  text: string,
  isOver: boolean,
): { response: HttpResponse; length: number } | undefined {
  const end = text.indexOf(headEnd);
  if (end < 0) {
    if (isOver && !text.startsWith('HTTP/1.1 ')) throw new Error(`${invalidResponse}: ${text.slice(0, 200)}`);
    return undefined;
  }
  const head = text.slice(0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? NaN);
  if (Number.isNaN(status)) throw new Error(`${invalidResponse}: ${text.slice(0, 200)}`);
  const start = end + headEnd.length;
  if (status === 101)
    return { response: { status, head, ...readFrames(text.slice(start)) }, length: text.length };
  const length = bodyLength(text, { head, status, start, isOver });
  if (length === undefined) return undefined;
  return { response: { status, head, body: text.slice(start, start + length) }, length: start + length };
}

/** RFC 9112 §6.3. Returns undefined if the body is not complete. */
function bodyLength(
  text: string,
  { head, status, start, isOver }: { head: string; status: number; start: number; isOver: boolean },
): number | undefined {
  if (status < 200 || status === 204 || status === 304) return 0;
  if (/^transfer-encoding: chunked/im.test(head)) {
    const end = text.indexOf('0\r\n\r\n', start);
    return end >= 0 ? end + 5 - start : isOver ? text.length - start : undefined;
  }
  const received = /^content-length: (\d+)/im.exec(head)?.[1];
  // An event stream over HTTP/1.0 ends with the connection.
  if (received === undefined && /^content-type: text\/event-stream/im.test(head)) return text.length - start;
  const length = Number(received ?? 0);
  // A response to HEAD has a length and no body: the next response follows directly.
  if (isOver && text.startsWith('HTTP/1.1 ', start)) return 0;
  if (text.length - start >= length) return length;
  return isOver ? text.length - start : undefined;
}

function readFrames(text: string): { body: string; closeCode?: number } {
  const bytes = Buffer.from(text, 'latin1');
  const received: string[] = [];
  let closeCode: number | undefined;
  for (let at = 0; at + 2 <= bytes.length;) {
    const opcode = bytes[at]! & 0x0f;
    const short = bytes[at + 1]! & 0x7f;
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (at + 2 + extra > bytes.length) break;
    const length =
      extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const start = at + 2 + extra;
    const payload = bytes.subarray(start, start + length);
    if (opcode === 8 && payload.length >= 2) closeCode = payload.readUInt16BE(0);
    received.push(payload.toString());
    at = start + length;
  }
  return { body: received.join('\n'), ...(closeCode !== undefined && { closeCode }) };
}
