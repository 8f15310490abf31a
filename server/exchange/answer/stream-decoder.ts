/**
 * Decompresses an event stream piece by piece, for upstreams that compress although asked not to. Reports damaged data as
 * an error and emits nothing of the damaged piece.
 */
import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from 'node:zlib';
import type { Framing } from '../../apis/core/framing.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';
import { type Encoding, encodingsOf } from '../readers/encodings.ts';
import { isEventStream } from './client-headers.ts';

export interface DecodedStream {
  data(chunk: Buffer): void;
  end(): void;
  error(error: TransportError): void;
}

/** A stage between a connection and the reader of its response. */
export interface DecodingStream {
  push(chunk: Buffer): void;
  end(): void;
  pause(): void;
  resume(): void;
  dispose(): void;
}

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
type Decoder = Gunzip | Inflate | BrotliDecompress;
const decoders: Record<Encoding, () => Decoder> = {
  gzip: () => createGunzip({ flush: Z_SYNC_FLUSH }),
  deflate: () => createInflate({ flush: Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH }),
};

/** Whether a response with these headers is an event stream that `StreamDecoder` can decompress. */
export function isPackedStream(headers: ResponseHeaders, framing: Framing): boolean {
  return isEventStream(headers, framing) && encodingsOf(headers).length > 0;
}

export class StreamDecoder implements DecodingStream {
  /** The encoding that was applied last is undone first. */
  readonly #first: Decoder;
  readonly #last: Decoder;

  /** `headers` must satisfy `isPackedStream`. */
  constructor(headers: ResponseHeaders, to: DecodedStream) {
    const opened = (encoding: Encoding) =>
      decoders[encoding]().on('error', (cause) => {
        to.error(new TransportError('malformed', 'body', 'what it sent is compressed and damaged', cause));
      });
    const [outer = 'gzip', ...inner] = encodingsOf(headers).toReversed();
    this.#first = opened(outer);
    this.#last = inner.reduce<Decoder>((before, encoding) => before.pipe(opened(encoding)), this.#first);
    this.#last.on('data', (chunk: Buffer) => to.data(chunk));
    this.#last.on('end', () => to.end());
  }

  push(chunk: Buffer): void {
    this.#first.write(chunk);
  }

  /** A few compressed bytes may expand a thousandfold. */
  pause(): void {
    this.#last.pause();
  }

  resume(): void {
    this.#last.resume();
  }

  end(): void {
    this.#first.end();
  }

  dispose(): void {
    this.#first.destroy();
    this.#last.destroy();
  }
}
