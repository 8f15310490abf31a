/** An upstream's response as it arrives: unpacked, decoded, and read once. */

import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from 'node:zlib';
import type { StreamUnpacker } from '../../apis/core/dialects/dialect.ts';
import type { Framing } from '../../apis/core/stream-format.ts';
import type { EventLoopMonitor, Labelled } from '../../ground/event-loop-monitor.ts';
import type {
  OutgoingRequest,
  ResponseHandler,
  ResponseHeaders,
  Transport,
  UpstreamCall,
} from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';
import type { RequestFacts } from '../readers/response-reader.ts';
import { type Encoding, encodingsOf } from '../readers/whole-reader.ts';
import type { AttemptNotes, AttemptTrace } from '../record/exchange-trace.ts';
import type { Hosting } from '../translation/request-translation.ts';
import { isEventStream } from './client-response.ts';

export interface IncomingOptions {
  /** The request to which the loop watch attributes the work. */
  request: Labelled;
  eventLoopMonitor: EventLoopMonitor;
  facts: RequestFacts;
  trace: AttemptTrace;
  /** Null unless a cloud answers in an envelope of its own. */
  hosting: Hosting | null;
}

/** Receives the response's progress. Exactly one of `finished`, `late` and `redirected` is called, and called last. */
interface Receiver {
  /** The last byte of the request has been sent. */
  sent(): void;
  answered(status: number, headers: ResponseHeaders): void;
  take(chunk: Buffer): void;
  finished(): void;
  /** The response will not arrive, or not in full. */
  late(error: TransportError): void;
  /** The response is a redirect; its body is not read. */
  redirected(location: string): void;
}

/** Handles one upstream response from the transport: decompresses event streams and detects redirects. */
export class IncomingResponse implements ResponseHandler {
  readonly #options: IncomingOptions;
  readonly #notes: AttemptNotes;
  readonly #receiver: Receiver;
  #call: UpstreamCall | undefined;
  #decoder: DecodingStream | undefined;
  #redirectedTo: string | undefined;
  #isOver = false;

  constructor(options: IncomingOptions, notes: AttemptNotes, receiver: Receiver) {
    this.#options = options;
    this.#notes = notes;
    this.#receiver = receiver;
  }

  request(transport: Pick<Transport, 'send'>, request: OutgoingRequest): void {
    this.#call = transport.send(request, this);
  }

  /** Closes the upstream connection if the response has not ended, and makes no further calls to the receiver. */
  stop(): void {
    this.#isOver = true;
    this.#decoder?.dispose();
    this.#call?.abort();
  }

  onSending(): void {
    this.#notes.sending();
  }

  onSent(): void {
    if (!this.#isOver) this.#receiver.sent();
  }

  onHeaders(status: number, headers: ResponseHeaders): void {
    this.#notes.answered(status, headers['x-request-id'] ?? headers['request-id']);
    const location = status >= 300 && status < 400 ? headers.location : undefined;
    if (typeof location === 'string') {
      this.#redirectedTo = location;
      this.#options.trace.tap?.response.begin(status, headers);
      this.#call?.abort();
      return;
    }
    const { hosting, facts } = this.#options;
    const { stream } = facts.route;
    if (stream && status < 400 && hosting?.unpacker && isOfType(headers, hosting.hosted.unpacking?.contentType)) {
      this.#decoder = new UnpackedStream(hosting.unpacker(), this.#decoded());
      this.#answered(status, headers, { 'content-type': stream.framing.contentType });
    } else if (!stream || status >= 400 || !isPackedStream(headers, stream.framing)) this.#answered(status, headers);
    else {
      this.#decoder = this.#decoderFor(headers);
      this.#answered(status, headers, { 'content-encoding': undefined });
    }
  }

  /** `decoded`: the headers that differ because the body is decoded. */
  #answered(status: number, headers: ResponseHeaders, decoded?: ResponseHeaders): void {
    this.#options.trace.tap?.response.begin(status, headers, decoded !== undefined);
    this.#receiver.answered(status, decoded ? { ...headers, ...decoded } : headers);
  }

  #take(chunk: Buffer): void {
    this.#options.trace.tap?.response.take(chunk);
    this.#receiver.take(chunk);
  }

  #finished(): void {
    this.#options.trace.tap?.response.end();
    this.#receiver.finished();
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return;
    const { eventLoopMonitor, request } = this.#options;
    this.#notes.pieceCame();
    eventLoopMonitor.begin(request);
    if (this.#decoder) this.#decoder.push(chunk);
    else this.#take(chunk);
    eventLoopMonitor.end();
  }

  onEnd(): void {
    if (this.#isOver) return;
    const { eventLoopMonitor, request } = this.#options;
    eventLoopMonitor.begin(request);
    if (this.#decoder) this.#decoder.end();
    else this.#finished();
    eventLoopMonitor.end();
  }

  onError(error: TransportError): void {
    if (this.#isOver) return;
    if (this.#redirectedTo !== undefined) this.#receiver.redirected(this.#redirectedTo);
    else this.#receiver.late(error);
  }

  /** Called when the client stops reading. */
  pause(): void {
    this.#call?.pause();
    this.#decoder?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
    this.#call?.resume();
  }

  #decoderFor(headers: ResponseHeaders): StreamDecoder {
    return new StreamDecoder(headers, this.#decoded());
  }

  #decoded(): DecodedStream {
    return {
      data: (chunk) => this.#take(chunk),
      end: () => this.#finished(),
      error: (error) => this.onError(error),
    };
  }
}

function isOfType({ 'content-type': type }: ResponseHeaders, expected: string | undefined): boolean {
  return expected !== undefined && typeof type === 'string' && type.toLowerCase().startsWith(expected);
}

interface DecodedStream {
  data(chunk: Buffer): void;
  end(): void;
  error(error: TransportError): void;
}

/** A stage between a connection and the reader of its response. */
interface DecodingStream {
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

/**
 * Decompresses an event stream piece by piece, for upstreams that compress although asked not to. Reports damaged data as
 * an error and emits nothing of the damaged piece.
 *
 * Whether a response with these headers is an event stream that `StreamDecoder` can decompress.
 */
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

/** A cloud's stream as server-sent events, piece by piece. */
class UnpackedStream implements DecodingStream {
  readonly #unpacker: StreamUnpacker;
  readonly #to: DecodedStream;
  #hasFailed = false;

  constructor(unpacker: StreamUnpacker, to: DecodedStream) {
    this.#unpacker = unpacker;
    this.#to = to;
  }

  push(chunk: Buffer): void {
    if (this.#hasFailed) return;
    try {
      const events = this.#unpacker.push(chunk);
      if (events.length > 0) this.#to.data(events);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      this.#fail(error);
    }
  }

  end(): void {
    if (this.#hasFailed) return;
    if (this.#unpacker.isBetweenEvents) this.#to.end();
    else this.#fail(new TransportError('malformed', 'body', 'its stream ends within a frame'));
  }

  /** Complete events are never buffered. */
  pause(): void {}

  resume(): void {}

  dispose(): void {}

  #fail(error: TransportError): void {
    this.#hasFailed = true;
    this.#to.error(error);
  }
}
