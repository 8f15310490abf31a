/**
 * Bodies of passthrough requests: short ones are held, since what they name may decide who is asked; longer ones are
 * forwarded without being held. All are searched for objects of other groups, and sent on as they came, compressed or
 * not.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { JsonFault } from '../../apis/json/json-scan.ts';
import { GatewayError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import type { ForeignObjects } from '../../exchange/plan/plan-route.ts';
import type { RequestBody, Sendable } from '../../exchange/request/request-body.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { type MaybePromise, yieldToEventLoop } from '../../ground/promises.ts';
import { bodyTooLarge, checkContentType, codingsOf, decodeWhole, headerParameters } from './content-headers.ts';
import { emptyBody } from './incoming-body.ts';
import { type BodyAccount, readBody, sendContinue } from './read-body.ts';
import { type BodySearch, DocumentSearch, FormSearch, ParameterSearch } from './search-form.ts';

interface PassthroughOptions {
  limits: Settings['limits'];
  account: BodyAccount;
  /** The rest of a streamed body will not arrive; `RequestBody.fault` says why. */
  bodyBroke(): void;
  /** The whole body is needed before the request is sent. */
  isHeld: boolean;
  foreignObjects(): ForeignObjects;
}

/** Bodies up to this size are held. */
const heldBytes = 64 * 1024;

export async function receivePassthroughBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limits, account, bodyBroke, isHeld, foreignObjects }: PassthroughOptions,
): Promise<RequestBody> {
  const { headers } = request;
  const isLengthKnown = headers['transfer-encoding'] === undefined;
  const length = isLengthKnown ? Number(headers['content-length'] ?? 0) : null;
  if (length === 0) return emptyBody;
  const maxBytes = limits.multipartBodyBytes;
  if (length !== null && length > maxBytes) throw bodyTooLarge(maxBytes, length);
  const contentType = headers['content-type'] ?? '';
  const isCompressed = codingsOf(headers).length > 0;
  if (isHeld || isCompressed || (length !== null && length <= heldBytes)) {
    const mostBytes = isCompressed ? limits.jsonBodyBytes : maxBytes;
    const bytes = await readBody(request, response, { maxBytes: mostBytes, account, isEncoded: true });
    return await heldBody(bytes, headers, mostBytes);
  }
  account.add(streamedBytes);
  const check = checkOf(contentType, foreignObjects());
  return new StreamedBody(request, response, { length, maxBytes, contentType, bodyBroke, check });
}

/** `bytes`: as the client sent them, and as they are sent on. */
async function heldBody(bytes: Buffer, headers: IncomingHttpHeaders, maxBytes: number): Promise<RequestBody> {
  const contentType = headers['content-type'] ?? '';
  const codings = codingsOf(headers);
  const plain = codings.length === 0 ? bytes : await decodeWhole(bytes, codings, maxBytes);
  if (plain === null) throw unreadable(maxBytes);
  return {
    ...emptyBody,
    contentType,
    size: bytes.length,
    captured: plain,
    sendable: async () => ({ length: bytes.length, open: () => bytes, usageAsked: false }),
    referencedIds: await idsInBytes(plain, contentType),
  };
}

function unreadable(maxBytes: number): GatewayError {
  const message = `The body of this request cannot be decoded as its content-encoding says, into at most ${maxBytes} bytes, so that Sluice cannot tell which objects it names. Send it without that coding.`;
  return new GatewayError('invalid_value', message, { param: 'content-encoding' });
}

function checkOf(contentType: string, objects: ForeignObjects): BodyCheck {
  const search = searchOf(contentType);
  return {
    take: (chunk) => objects.refuse(search.take(chunk)),
    end: () => objects.refuse(search.end()),
  };
}

const jsonType = boundedPattern(/^\s{0,100}application\/(?:[\w.+-]{1,100}\+)?json\b/i);
const formType = boundedPattern(/^\s{0,100}multipart\//i);
const parameterType = boundedPattern(/^\s{0,100}application\/x-www-form-urlencoded\b/i);
const sliceBytes = 128 * 1024;

/**
 * Searches bodies that Sluice does not read otherwise for the ids of stored objects, by their content type and their first byte.
 *
 * Its methods throw a GatewayError for what parsers may read differently.
 */
export function searchOf(contentType: string): BodySearch {
  checkContentType(contentType);
  const search = chooseSearch(contentType);
  return {
    take: (chunk) => readable(() => search.take(chunk)),
    end: () => readable(() => search.end()),
  };
}

function chooseSearch(contentType: string): BodySearch {
  if (jsonType.test(contentType)) return new DocumentSearch({ isStrict: true });
  const boundary = headerParameters(contentType).values.get('boundary');
  if (formType.test(contentType) && boundary) return new FormSearch(boundary);
  // `curl -d` says so of JSON, too.
  return parameterType.test(contentType) ? new EitherSearch() : new DocumentSearch({ isStrict: false });
}

class EitherSearch implements BodySearch {
  readonly #searches = [new DocumentSearch({ isStrict: false }), new ParameterSearch()];

  take(chunk: Buffer): readonly string[] {
    return this.#searches.flatMap((search) => search.take(chunk));
  }

  end(): readonly string[] {
    return this.#searches.flatMap((search) => search.end());
  }
}

/** The ids in a whole body, which is searched in slices. */
async function idsInBytes(bytes: Buffer, contentType: string): Promise<readonly string[]> {
  const search = searchOf(contentType);
  const ids: string[] = [];
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    if (from > 0) await yieldToEventLoop();
    for (const id of search.take(bytes.subarray(from, from + sliceBytes))) ids.push(id);
  }
  return [...ids, ...search.end()];
}

function readable<T>(search: () => T): T {
  try {
    return search();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const message = `The body of this request is no JSON: ${error.message} at byte ${error.offset}. Sluice passes JSON on only if it can tell which objects it names.`;
    throw new GatewayError('malformed_json', message, { cause: error });
  }
}

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

interface BodyCheck {
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
