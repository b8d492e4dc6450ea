/**
 * A hostile request is plain data, so that a seed makes it again and a finding can be kept: bytes for one connection, in
 * which names like $AT$ stand for what only a running server has.
 */

/** Texts of which each character is a byte. */
type Bytes = string;

export interface HostileRequest {
  /** What was made hostile. */
  readonly kind: Kind;
  /** Sent one after the other, without waiting. $LENGTH$ is the length of what follows the head. */
  readonly parts: readonly Bytes[];
  /** After an upgrade. */
  readonly frames?: readonly Frame[];
  /** How many of the frames are sent before the server has said something about them. */
  readonly framesBefore?: number;
  /** As HTTP it is in order: it gets one answer, and the connection can go on. */
  readonly isOrderly?: boolean;
}

export type Kind = 'http' | 'body' | 'graph' | 'socket';

/** RFC 6455 §5.2, or what should be. */
export interface Frame {
  readonly isFinal: boolean;
  readonly reserved: number;
  readonly opcode: number;
  readonly isMasked: boolean;
  readonly payload: Bytes;
  /** What the length field says, if not the truth. */
  readonly claims?: number;
  /** Only so many of its bytes are sent. */
  readonly cutAt?: number;
}

/** What stands behind the names, by name. */
export type Materials = Readonly<Record<string, string>>;

const mask = Buffer.from([0x12, 0xa4, 0x00, 0xff]);

export function toBytes(text: string): Bytes {
  return Buffer.from(text).toString('latin1');
}

/** What is sent at once, and what is sent when something has come back. */
export function render(request: HostileRequest, materials: Materials): { first: Buffer; then: Buffer } {
  const { parts, frames = [], framesBefore = frames.length } = request;
  const heads = parts.map((part) => Buffer.from(withLength(fill(part, materials)), 'latin1'));
  const rendered = frames.map((frame) => renderFrame(frame, materials));
  return {
    first: Buffer.concat([...heads, ...rendered.slice(0, framesBefore)]),
    then: Buffer.concat(rendered.slice(framesBefore)),
  };
}

function fill(text: Bytes, materials: Materials): Bytes {
  return text.replace(/\$([A-Z]+\d?)\$/g, (whole, name: string) => materials[name] ?? whole);
}

function withLength(text: Bytes): Bytes {
  const end = text.indexOf('\r\n\r\n');
  const length = end < 0 ? 0 : text.length - end - 4;
  return text.replace('$LENGTH$', String(length));
}

function renderFrame(frame: Frame, materials: Materials): Buffer {
  const payload = Buffer.from(fill(frame.payload, materials), 'latin1');
  const length = frame.claims ?? payload.length;
  const first = (frame.isFinal ? 0x80 : 0) | (frame.reserved << 4) | frame.opcode;
  const masked = frame.isMasked ? 0x80 : 0;
  const head =
    length < 126
      ? Buffer.from([first, masked | length])
      : length < 65_536
        ? Buffer.from([first, masked | 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([first, masked | 127]), longLength(length)]);
  if (frame.isMasked) payload.forEach((byte, place) => (payload[place] = byte ^ mask[place % 4]!));
  const whole = Buffer.concat([head, ...(frame.isMasked ? [mask] : []), payload]);
  return whole.subarray(0, frame.cutAt ?? whole.length);
}

function longLength(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.floor(length)));
  return bytes;
}
