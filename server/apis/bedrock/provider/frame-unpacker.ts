/** Converts AWS's event-stream frames to server-sent events. Source: AWS, "Event stream encoding". */
import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { TransportError } from '../../../transport/transport-error.ts';
import type { StreamUnpacker } from '../../core/dialects/dialect.ts';
import { ComparedBytes } from '../../core/stream-format.ts';
import { type FrameFormat, objectIn } from './frames.ts';

const lengthBytes = 4;
/** A prelude of 12 bytes and a checksum of 4. */
const minFrameBytes = 16;
/** Where the headers begin. */
const preludeBytes = 12;
const checksumBytes = 4;
/** AWS's own limit for a payload, with room for headers. */
const maxFrameBytes = 24 * 1024 * 1024;

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

export class FrameUnpacker implements StreamUnpacker {
  readonly #format: FrameFormat;
  #heldParts: Buffer[] = [];
  #heldBytes = 0;
  /**
   * The headers of the latest frame and the writer for such frames. Nearly all frames of a stream have the same
   * headers.
   */
  #headerBytes = new ComparedBytes(nothing);
  #write: (payload: Buffer) => string | null;

  constructor(format: FrameFormat) {
    this.#format = format;
    this.#write = this.#writerFor(() => '');
  }

  push(bytes: Buffer): Buffer {
    this.#heldParts.push(bytes);
    this.#heldBytes += bytes.length;
    if (!this.#hasFrame()) return nothing;
    const all = new ComparedBytes(this.#joined());
    const { bytes: joined } = all;
    let events = '';
    let at = 0;
    for (let end = frameEnd(joined, at); end !== -1; end = frameEnd(joined, at)) {
      events += this.#eventOf(all, at, end);
      at = end;
    }
    this.#heldBytes = joined.length - at;
    this.#heldParts = this.#heldBytes === 0 ? [] : [joined.subarray(at)];
    return Buffer.from(events);
  }

  get isBetweenEvents(): boolean {
    return this.#heldBytes === 0;
  }

  /** Pieces are joined only once a frame is complete, so that a long frame in many pieces is copied once. */
  #hasFrame(): boolean {
    if (this.#heldBytes < lengthBytes) return false;
    const [first = nothing] = this.#heldParts;
    return this.#heldBytes >= frameLength(first.length < lengthBytes ? this.#joined() : first, 0);
  }

  /** The event of the frame between `start` and `end`; empty for a frame without content for the client. */
  #eventOf(all: ComparedBytes, start: number, end: number): string {
    const payload = this.#readFrame(all, start, end);
    const event = this.#written(payload);
    if (event === null) throw malformed('an event that is no JSON');
    return event;
  }

  #written(payload: Buffer): string | null {
    try {
      return this.#write(payload);
    } catch (cause) {
      // Values nested thousands of levels deep can be parsed, but not written.
      throw malformed('an event that cannot be read', cause);
    }
  }

  /** Returns the payload. */
  #readFrame(all: ComparedBytes, start: number, end: number): Buffer {
    const { bytes } = all;
    const headersStart = start + preludeBytes;
    const headersEnd = headersStart + bytes.readUInt32BE(start + lengthBytes);
    const checksumAt = end - checksumBytes;
    const isKnown =
      headersEnd <= checksumAt &&
      headersEnd - headersStart === this.#headerBytes.length &&
      all.hasAt(headersStart, this.#headerBytes);
    if (isKnown && isIntact(bytes, start, checksumAt)) return bytes.subarray(headersEnd, checksumAt);
    const { headers, body } = decode(bytes.subarray(start, end));
    this.#headerBytes = new ComparedBytes(Buffer.from(bytes.subarray(headersStart, headersEnd)));
    this.#write = this.#writerFor((name) => String(headers[name]?.value ?? ''));
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  }

  #writerFor(header: (name: string) => string): (payload: Buffer) => string | null {
    if (header(':message-type') === 'event') return this.#format.eventWriter(header(':event-type'));
    const name = header(':exception-type') || header(':error-code');
    return (payload) => {
      const fields = objectIn(payload);
      const message = fields.message ?? fields.Message;
      return this.#format.exception(name, typeof message === 'string' ? message : header(':error-message') || name);
    };
  }

  #joined(): Buffer {
    const [first = nothing, ...others] = this.#heldParts;
    if (others.length === 0) return first;
    const all = Buffer.concat(this.#heldParts);
    this.#heldParts = [all];
    return all;
  }
}

const nothing = Buffer.alloc(0);

function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length < minFrameBytes || length > maxFrameBytes) throw malformed('a frame of an impossible length');
  return length;
}

/** The end of the frame that begins at `at`; -1 if it is not complete. */
function frameEnd(bytes: Buffer, at: number): number {
  if (bytes.length - at < lengthBytes) return -1;
  const end = at + frameLength(bytes, at);
  return end > bytes.length ? -1 : end;
}

function malformed(defect: string, cause?: unknown): TransportError {
  return new TransportError('malformed', 'body', `its stream has ${defect}`, cause);
}

/** The checksum covers the prelude as well. */
function isIntact(bytes: Buffer, start: number, checksumAt: number): boolean {
  return crc32(bytes.subarray(start, checksumAt)) === bytes.readUInt32BE(checksumAt);
}

function decode(frame: Buffer): ReturnType<EventStreamCodec['decode']> {
  try {
    return codec.decode(frame);
  } catch (cause) {
    throw malformed('a damaged frame', cause);
  }
}
