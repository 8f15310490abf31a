/** Turns AWS's event-stream frames into server-sent events. Source: AWS, "Event stream encoding". */
import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { TransportError } from '../../transport/transport-error.ts';
import type { StreamUnpacker } from '../dialect.ts';
import { type FrameFormat, objectIn } from './frames.ts';

const lengthBytes = 4;
/** Prelude of 12 bytes and checksum of 4. */
const leastFrameBytes = 16;
/** Where the headers begin. */
const preludeBytes = 12;
const checksumBytes = 4;
/** AWS's own limit for a payload, with room for headers. */
const mostFrameBytes = 24 * 1024 * 1024;

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

export class FrameUnpacker implements StreamUnpacker {
  readonly #format: FrameFormat;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The headers of the latest frame, which nearly all frames of a stream share, and what they say. */
  #headerBytes: Buffer = nothing;
  #headers: Headers = () => '';

  constructor(format: FrameFormat) {
    this.#format = format;
  }

  push(bytes: Buffer): Buffer {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (!this.#hasFrame()) return nothing;
    const all = this.#joined();
    let events = '';
    let at = 0;
    for (let end = frameEnd(all, at); end !== -1; end = frameEnd(all, at)) {
      events += this.#eventOf(all.subarray(at, end));
      at = end;
    }
    this.#heldBytes = all.length - at;
    this.#held = this.#heldBytes === 0 ? [] : [all.subarray(at)];
    return Buffer.from(events);
  }

  get isBetweenEvents(): boolean {
    return this.#heldBytes === 0;
  }

  /** Pieces are joined only once a frame is complete, so that a long one in many pieces is copied once. */
  #hasFrame(): boolean {
    if (this.#heldBytes < lengthBytes) return false;
    const [first = nothing] = this.#held;
    return this.#heldBytes >= frameLength(first.length < lengthBytes ? this.#joined() : first, 0);
  }

  /** Empty for a frame that says nothing to a client. */
  #eventOf(frame: Buffer): string {
    const payload = this.#readFrame(frame);
    const text = this.#headers;
    if (text(':message-type') === 'event') {
      const event = this.#format.event(text(':event-type'), payload);
      if (event === null) throw malformed('an event that is no JSON');
      return event;
    }
    const name = text(':exception-type') || text(':error-code');
    const said = objectIn(payload);
    return this.#format.exception(name, String(said.message ?? said.Message ?? (text(':error-message') || name)));
  }

  /** Returns the payload. */
  #readFrame(frame: Buffer): Buffer {
    const headersEnd = preludeBytes + frame.readUInt32BE(lengthBytes);
    const checksumAt = frame.length - checksumBytes;
    const isKnown =
      headersEnd <= checksumAt && frame.compare(this.#headerBytes, 0, undefined, preludeBytes, headersEnd) === 0;
    if (isKnown && isIntact(frame, checksumAt)) return frame.subarray(headersEnd, checksumAt);
    const decoded = decode(frame);
    this.#headerBytes = Buffer.from(frame.subarray(preludeBytes, headersEnd));
    this.#headers = (name) => String(decoded.headers[name]?.value ?? '');
    return Buffer.from(decoded.body.buffer, decoded.body.byteOffset, decoded.body.byteLength);
  }

  #joined(): Buffer {
    const [first = nothing, ...others] = this.#held;
    if (others.length === 0) return first;
    const all = Buffer.concat(this.#held);
    this.#held = [all];
    return all;
  }
}

/** A header's value; empty if there is none of this name. */
type Headers = (name: string) => string;

const nothing = Buffer.alloc(0);

function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length < leastFrameBytes || length > mostFrameBytes) throw malformed('a frame of an impossible length');
  return length;
}

/** The end of the frame that begins at `at`; -1 if it is not complete. */
function frameEnd(bytes: Buffer, at: number): number {
  if (bytes.length - at < lengthBytes) return -1;
  const end = at + frameLength(bytes, at);
  return end > bytes.length ? -1 : end;
}

function malformed(what: string, cause?: unknown): TransportError {
  return new TransportError('malformed', 'body', `its stream has ${what}`, cause);
}

/** The checksum covers the prelude, too. */
function isIntact(frame: Buffer, checksumAt: number): boolean {
  return crc32(frame.subarray(0, checksumAt)) === frame.readUInt32BE(checksumAt);
}

function decode(frame: Buffer): ReturnType<EventStreamCodec['decode']> {
  try {
    return codec.decode(frame);
  } catch (cause) {
    throw malformed('a damaged frame', cause);
  }
}
