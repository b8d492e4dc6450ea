/** Answers as they come over a connection, one after the other, and what a server says over a socket after an upgrade. */

export interface Answer {
  readonly status: number;
  readonly head: string;
  /** Of an upgrade: all that the server said. */
  readonly body: string;
  /** Of an upgrade: with which code the server closed, if it did. */
  readonly closeCode?: number;
}

const headEnd = '\r\n\r\n';
const unframed = 'the answer is not framed as HTTP says';

/** All of them; the last may have been cut off. */
export function readAnswers(received: Buffer): Answer[] {
  const answers: Answer[] = [];
  let rest = received.toString('latin1');
  while (rest.length > 0) {
    const taken = takeAnswer(rest, true);
    if (!taken) break;
    answers.push(taken.answer);
    rest = rest.slice(taken.length);
  }
  return answers;
}

/** The first, if it is all there. */
export function readOneAnswer(received: Buffer): Answer | undefined {
  return takeAnswer(received.toString('latin1'), false)?.answer;
}

function takeAnswer(text: string, isOver: boolean): { answer: Answer; length: number } | undefined {
  const end = text.indexOf(headEnd);
  if (end < 0) {
    if (isOver && !text.startsWith('HTTP/1.1 ')) throw new Error(`${unframed}: ${text.slice(0, 200)}`);
    return undefined;
  }
  const head = text.slice(0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? NaN);
  if (Number.isNaN(status)) throw new Error(`${unframed}: ${text.slice(0, 200)}`);
  const start = end + headEnd.length;
  if (status === 101)
    return { answer: { status, head, ...readFrames(text.slice(start)) }, length: text.length };
  const length = bodyLength(text, { head, status, start, isOver });
  if (length === undefined) return undefined;
  return { answer: { status, head, body: text.slice(start, start + length) }, length: start + length };
}

/** RFC 9112 §6.3; undefined if it is not all there. */
function bodyLength(
  text: string,
  { head, status, start, isOver }: { head: string; status: number; start: number; isOver: boolean },
): number | undefined {
  if (status < 200 || status === 204 || status === 304) return 0;
  if (/^transfer-encoding: chunked/im.test(head)) {
    const end = text.indexOf('0\r\n\r\n', start);
    return end >= 0 ? end + 5 - start : isOver ? text.length - start : undefined;
  }
  const said = /^content-length: (\d+)/im.exec(head)?.[1];
  // An event stream for HTTP/1.0 ends with the connection.
  if (said === undefined && /^content-type: text\/event-stream/im.test(head)) return text.length - start;
  const length = Number(said ?? 0);
  // An answer to HEAD tells a length and has no body: the next answer follows at once.
  if (isOver && text.startsWith('HTTP/1.1 ', start)) return 0;
  if (text.length - start >= length) return length;
  return isOver ? text.length - start : undefined;
}

function readFrames(text: string): { body: string; closeCode?: number } {
  const bytes = Buffer.from(text, 'latin1');
  const said: string[] = [];
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
    said.push(payload.toString());
    at = start + length;
  }
  return { body: said.join('\n'), ...(closeCode !== undefined && { closeCode }) };
}
