/**
 * A request that its provider takes only in parts, such as embeddings of many texts: the parts are asked one after the other,
 * and count as one call. The answers to all but the last are kept here; the last one is the answer that the attempt reads,
 * unless a part fails: then its answer is, and the rest is not asked.
 */
import type {
  OutgoingRequest,
  ResponseHandler,
  ResponseHeaders,
  Transport,
  UpstreamCall,
} from '../../transport/transport.ts';
import { TransportError, toTransportError } from '../../transport/transport-error.ts';
import { decompress, encodingsOf, maxWrittenBytes } from '../readers/whole-reader.ts';

interface BatchOptions {
  bodies: readonly Buffer[];
  /** The request with this body, signed. */
  requestWith(body: Buffer): Promise<OutgoingRequest>;
  /** Keeps the answer to a part. False if it cannot be used. */
  take(answer: Buffer): Promise<boolean>;
}

/** A transport for the last part, which asks for the others before. */
export function inBatches(transport: Pick<Transport, 'send'>, options: BatchOptions): Pick<Transport, 'send'> {
  return { send: (request, handler) => new BatchedCall(transport, handler, options).send(request) };
}

interface PartAnswer {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
}

class BatchedCall implements UpstreamCall {
  readonly #transport: Pick<Transport, 'send'>;
  readonly #handler: ResponseHandler;
  readonly #options: BatchOptions;
  #running: UpstreamCall | undefined;
  #isAborted = false;

  constructor(transport: Pick<Transport, 'send'>, handler: ResponseHandler, options: BatchOptions) {
    this.#transport = transport;
    this.#handler = handler;
    this.#options = options;
  }

  send(last: OutgoingRequest): this {
    this.#run(last).catch((thrown: unknown) => this.#handler.onError(toTransportError(thrown, 'body')));
    return this;
  }

  pause(): void {
    this.#running?.pause();
  }

  resume(): void {
    this.#running?.resume();
  }

  abort(): void {
    this.#isAborted = true;
    this.#running?.abort();
  }

  async #run(last: OutgoingRequest): Promise<void> {
    for (const body of this.#options.bodies) {
      const request = await this.#options.requestWith(body);
      const answer = await this.#ask(request);
      if (!(await this.#isTaken(answer))) return this.#passOn(answer);
    }
    const signed = Buffer.isBuffer(last.body) ? await this.#options.requestWith(last.body) : last;
    this.#checkAborted();
    this.#running = this.#transport.send(signed, this.#handler);
  }

  #checkAborted(): void {
    if (this.#isAborted) throw new TransportError('aborted', 'headers', 'the request was given up');
  }

  #ask(request: OutgoingRequest): Promise<PartAnswer> {
    this.#checkAborted();
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let [status, bytes]: [number, number] = [0, 0];
      let headers: ResponseHeaders = {};
      const call = this.#transport.send(request, {
        onSending: () => this.#handler.onSending?.(),
        onHeaders: (received, fields) => {
          [status, headers] = [received, fields];
        },
        onData: (chunk) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes <= maxWrittenBytes) return;
          reject(new TransportError('malformed', 'body', 'an answer without end'));
          call.abort();
        },
        onEnd: () => resolve({ status, headers, body: Buffer.concat(chunks) }),
        onError: reject,
      });
      this.#running = call;
    });
  }

  async #isTaken({ status, headers, body }: PartAnswer): Promise<boolean> {
    if (status !== 200) return false;
    const plain = await decompress(encodingsOf(headers), body, maxWrittenBytes);
    return plain !== null && this.#options.take(plain);
  }

  #passOn({ status, headers, body }: PartAnswer): void {
    this.#checkAborted();
    this.#handler.onHeaders(status, headers);
    if (body.length > 0) this.#handler.onData(body);
    this.#handler.onEnd();
  }
}
