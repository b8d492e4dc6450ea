/**
 * A hostile request is plain data, so that a seed reproduces it and a finding can be stored. It holds bytes
 * for one connection, with placeholders such as $AT$ for values that only a running server has.
 */

/** A text in which each character is one byte. */
type Bytes = string;

export interface HostileRequest {
  /** The part that is hostile. */
  readonly kind: Kind;
  /** Sent one after another without waiting for responses. $LENGTH$ is the length of the body. */
  readonly parts: readonly Bytes[];
  /** Sent after an upgrade. */
  readonly frames?: readonly Frame[];
  /** The number of frames to send before the first response of the server. */
  readonly framesBefore?: number;
  /** Valid HTTP: it gets one response, and the connection can be reused. */
  readonly isValidHttp?: boolean;
}

export type Kind = 'http' | 'body' | 'graph' | 'socket';

/** A frame of RFC 6455 §5.2, valid or not. */
export interface Frame {
  readonly isFinal: boolean;
  readonly reserved: number;
  readonly opcode: number;
  readonly isMasked: boolean;
  readonly payload: Bytes;
  /** The value of the length field, if it is not the real length. */
  readonly claims?: number;
  /** If set, only this many bytes of the frame are sent. */
  readonly cutAt?: number;
}

/** The values of the placeholders, by name. */
export type Materials = Readonly<Record<string, string>>;

const mask = Buffer.from([0x12, 0xa4, 0x00, 0xff]);

export function toBytes(text: string): Bytes {
  return Buffer.from(text).toString('latin1');
}

/** Returns the bytes to send first, and the bytes to send after the first response. */
export function render(
  request: HostileRequest,
  materials: Materials,
): { first: Buffer; afterResponse: Buffer } {
  const { parts, frames = [], framesBefore = frames.length } = request;
  const heads = parts.map((part) => Buffer.from(withLength(fill(part, materials)), 'latin1'));
  const rendered = frames.map((frame) => renderFrame(frame, materials));
  return {
    first: Buffer.concat([...heads, ...rendered.slice(0, framesBefore)]),
    afterResponse: Buffer.concat(rendered.slice(framesBefore)),
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
  if (frame.isMasked) payload.forEach((byte, index) => (payload[index] = byte ^ mask[index % 4]!));
  const whole = Buffer.concat([head, ...(frame.isMasked ? [mask] : []), payload]);
  return whole.subarray(0, frame.cutAt ?? whole.length);
}

function longLength(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.floor(length)));
  return bytes;
}
