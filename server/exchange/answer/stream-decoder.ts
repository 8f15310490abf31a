/**
 * Decompresses an event stream piece by piece, for upstreams that compress although asked not to. Reports damaged data as
 * an error and emits nothing of the damaged piece.
 */
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Framing } from '../../apis/core/framing.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';
import { type Encoding, encodingOf } from '../readers/encodings.ts';
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
const decoders = {
  gzip: () => createGunzip({ flush: Z_SYNC_FLUSH }),
  deflate: () => createInflate({ flush: Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH }),
};

/** Whether a response with these headers is an event stream that `StreamDecoder` can decompress. */
export function isPackedStream(headers: ResponseHeaders, framing: Framing): boolean {
  return isEventStream(headers, framing) && encodingOf(headers) !== null;
}

export class StreamDecoder implements DecodingStream {
  readonly #decoder: ReturnType<(typeof decoders)[Encoding]>;

  /** `headers` must satisfy `isPackedStream`. */
  constructor(headers: ResponseHeaders, to: DecodedStream) {
    this.#decoder = decoders[encodingOf(headers) ?? 'gzip']();
    this.#decoder.on('data', (chunk: Buffer) => to.data(chunk));
    this.#decoder.on('end', () => to.end());
    this.#decoder.on('error', (cause) => {
      to.error(new TransportError('malformed', 'body', 'what it sent is compressed and damaged', cause));
    });
  }

  push(chunk: Buffer): void {
    this.#decoder.write(chunk);
  }

  /** A few compressed bytes may expand a thousandfold. */
  pause(): void {
    this.#decoder.pause();
  }

  resume(): void {
    this.#decoder.resume();
  }

  end(): void {
    this.#decoder.end();
  }

  dispose(): void {
    this.#decoder.destroy();
  }
}
