import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import type { RequestBody, Sendable } from '../../exchange/request/request-body.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import { bodyTooLarge } from './content-coding.ts';
import { emptyBody } from './incoming-body.ts';
import { sendContinue } from './read-body.ts';

/** How much of a streamed body is buffered until the upstream takes it. */
export const streamedBytes = 64 * 1024;

interface StreamedOptions {
  /** In bytes; null for a chunked body. */
  length: number | null;
  maxBytes: number;
  contentType: string;
  bodyBroke(): void;
  /** Looks at each piece before it is sent on. Throws or rejects with a GatewayError for one that must not be. */
  check: BodyCheck;
}

export interface BodyCheck {
  take(chunk: Buffer): MaybePromise<void>;
  /** Nothing follows. */
  end(): MaybePromise<void>;
}

/** A body that is read from the client while the upstream takes it; it can be sent only once. */
export class StreamedBody implements RequestBody {
  readonly fields = emptyBody.fields;
  readonly captured = null;
  readonly isSingleUse = true;
  readonly contentType: string;
  /** Why the rest will not arrive; null if it may still arrive, or the client has left. */
  fault: GatewayError | null = null;
  readonly #length: number | null;
  readonly #stream: ClientStream;

  constructor(request: IncomingMessage, response: ServerResponse, options: StreamedOptions) {
    this.contentType = options.contentType;
    this.#length = options.length;
    this.#stream = new ClientStream(request, {
      maxBytes: options.maxBytes,
      length: options.length,
      check: options.check,
      begin: () => sendContinue(request, response),
      failed: (error) => {
        this.fault = error;
        options.bodyBroke();
      },
    });
  }

  /** Bytes so far. */
  get size(): number {
    return this.#stream.size;
  }

  get mayGrow(): boolean {
    return !this.#stream.hasArrived;
  }

  field(): undefined {
    return undefined;
  }

  raw(): null {
    return null;
  }

  async sendable(): Promise<Sendable & { usageAsked: boolean }> {
    return { length: this.#length, open: () => this.#stream, usageAsked: false };
  }

  dispose(): void {
    this.#stream.destroy();
  }
}

interface StreamPorts {
  length: number | null;
  maxBytes: number;
  check: BodyCheck;
  /** Called when the first byte is requested. */
  begin(): void;
  failed(error: GatewayError): void;
}

/** A stream of its own, so that an upstream that hangs up does not close the client's connection. */
class ClientStream extends Readable {
  size = 0;
  hasArrived = false;
  readonly #request: IncomingMessage;
  readonly #ports: StreamPorts;
  #hasBegun = false;
  #isChecking = false;

  constructor(request: IncomingMessage, ports: StreamPorts) {
    super({ highWaterMark: streamedBytes });
    this.#request = request;
    this.#ports = ports;
  }

  override _read(): void {
    if (!this.#hasBegun) this.#begin();
    if (!this.#isChecking) this.#request.resume();
  }

  /** Reads and discards what the client still sends, so that the client goes on to read its response. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#request.off('data', this.#take).off('end', this.#end).off('error', this.#fail);
    if (!this.#request.destroyed) this.#request.resume();
    done(error);
  }

  #begin(): void {
    this.#hasBegun = true;
    this.#ports.begin();
    this.#request.on('data', this.#take).on('end', this.#end).on('error', this.#fail);
  }

  /** A client that disconnects also closes its response, which stops the request. */
  readonly #fail = (error: unknown): void => {
    if (error instanceof GatewayError) this.#ports.failed(error);
  };

  readonly #take = (chunk: Buffer): void => {
    this.size += chunk.length;
    if (this.size > this.#ports.maxBytes) this.#refuse(bodyTooLarge(this.#ports.maxBytes, this.size));
    else {
      this.#after(
        () => this.#check(chunk),
        () => {
          if (!this.push(chunk)) this.#request.pause();
        },
      );
    }
  };

  readonly #end = (): void => {
    this.hasArrived = true;
    this.#after(
      () => this.#ports.check.end(),
      () => this.push(null),
    );
  };

  /** The upstream must not have the last byte before all is checked: it would act on the request. */
  #check(chunk: Buffer): MaybePromise<void> {
    const { check, length } = this.#ports;
    const checking = check.take(chunk);
    if (this.size !== length) return checking;
    return checking instanceof Promise ? checking.then(() => check.end()) : check.end();
  }

  /** Nothing else arrives while a check waits for the store. */
  #after(check: () => MaybePromise<void>, passed: () => void): void {
    try {
      const checking = check();
      if (checking instanceof Promise) this.#wait(checking, passed);
      else passed();
    } catch (error) {
      this.#refuse(error);
    }
  }

  #wait(checking: Promise<void>, passed: () => void): void {
    this.#isChecking = true;
    this.#request.pause();
    checking.then(
      () => {
        this.#isChecking = false;
        if (this.destroyed) return;
        this.#request.resume();
        passed();
      },
      (error: unknown) => this.#refuse(error),
    );
  }

  #refuse(error: unknown): void {
    this.#request.off('data', this.#take).off('end', this.#end);
    this.#request.resume();
    const failure = 'Sluice failed while it read this body. Its log says why.';
    this.#ports.failed(error instanceof GatewayError ? error : new GatewayError('internal', failure, { cause: error }));
  }
}
