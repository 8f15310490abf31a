/** Chooses what reads an upstream's response, and reads those that are errors or of an unknown format. */

import type { Route } from '../../apis/core/api.ts';
import { type ErrorInBody, readError } from '../../apis/core/errors/error-body.ts';
import { isUnexpectedText } from '../../apis/core/errors/read-whole.ts';
import { type Failure, failureBy } from '../../apis/core/errors/verdict.ts';
import { framingOf } from '../../apis/core/sse-framing.ts';
import { isObject } from '../../contract/is-object.ts';
import { differingFailure } from '../../routing/attempt-result.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import { isEventStream } from '../answer/client-response.ts';
import { EventsReader } from '../readers/events-reader.ts';
import {
  brokenBy,
  brokenTransport,
  damagedBy,
  type FailureReason,
  failWith,
  nothingYet,
  type RequestFacts,
  type ResponseHead,
  type ResponseReader,
  type Steps,
} from '../readers/response-reader.ts';
import { decompress, encodingsOf, maxHeldBytes, WholeReader } from '../readers/whole-reader.ts';
import type { RequestBody } from '../request/request-body.ts';
import { fileReader, type RescueNeeds, restReader } from '../rescue/rescue.ts';
import type { PreparedRequest } from '../translation/request-translation.ts';

/** What a reader of streams needs to know about the request. */
export interface StreamNeeds extends RescueNeeds {
  /**
   * The client asked for a stream, possibly with a value that Pydantic, and so vLLM, reads as true: `"stream": "true"`
   * (docs.pydantic.dev, "Booleans").
   */
  isStreamFit: boolean;
  /** How many choices or images a stream carries in parallel. */
  answers: number;
  /** Only Sluice asked for usage, so it has to be removed again. */
  stripUsage: boolean;
}

/** `route`: of the upstream's API, which is another than the client's if there is a translation. */
export function requestFactsOf(
  body: RequestBody,
  route: Route,
  method: string = route.method,
  { translation, hosting }: Partial<Pick<PreparedRequest, 'translation' | 'hosting'>> = {},
): RequestFacts {
  const { request } = route.wire;
  const isTranslated = Boolean(translation);
  return {
    route,
    method,
    isStreamAsked: body.fields.stream && route.stream !== null,
    isTextAsked: request.isTextAsked(body),
    isTranslated,
    errorBody: hosting?.hosted.errorBody,
    isBackground: !isTranslated && route.job !== null && request.isBackground(body),
    tellsOutcome: !isTranslated && route.job !== null && (method === 'GET' || request.isBackground(body)),
    isKept: !isTranslated && route.job !== null && (body.fields.store || request.isBackground(body)),
  };
}

type ReaderChoice =
  | { kind: 'stream' | 'error' | 'other'; reader: ResponseReader }
  /** The response is unusable. */
  | { kind: 'none'; reason: FailureReason };

/** Chooses the reader for the body of a response with this status and these headers. */
export function chooseReader(facts: RequestFacts, head: ResponseHead, needs: StreamNeeds): ReaderChoice {
  if (head.status >= 400) return { kind: 'error', reader: new ErrorReader(facts, head) };
  // A deletion has succeeded whatever its answer says: OpenAI's API describes none, and answers in several forms.
  const isDeleted = facts.method === 'DELETE' && head.status < 300;
  if (facts.route.body === 'passed' || isDeleted) return { kind: 'other', reader: new PassReader() };
  if (isBare(facts, head)) return uselessAnswer(`answered with status ${head.status} alone`);
  if (isUnexpectedText({ ...facts, wire: facts.route.wire, headers: head.headers }))
    return uselessAnswer('answered with a page of text');
  const file = fileReader(needs, head, maxHeldBytes);
  if (file) return file === 'other-file' ? otherFile : { kind: 'other', reader: file };
  if (!isEventStream(head.headers, framingOf(facts.route)))
    return { kind: 'other', reader: new WholeReader(facts, head) };
  const { stream } = facts.route;
  if (!stream || !mayStream(facts, needs)) return unrequestedStream;
  const { tellsOutcome, isBackground, isTranslated } = facts;
  const { answers, stripUsage, text } = needs;
  const streamed = { format: stream, headers: head.headers, tellsOutcome, isBackground, isTranslated };
  return {
    kind: 'stream',
    reader:
      restReader(facts.route.wire, streamed, needs) ?? new EventsReader({ ...streamed, answers, stripUsage, text }),
  };
}

/** Whether the response has no body, or is a redirect without a location. */
function isBare({ method }: RequestFacts, { status }: ResponseHead): boolean {
  if (status === 204 || status === 205) return true;
  return status >= 300 && (status !== 304 || method === 'POST');
}

/** A speech stream is requested by another field, and one by GET in the query. */
function mayStream({ route, method }: RequestFacts, { isStreamFit }: StreamNeeds): boolean {
  return isStreamFit || route.stream?.isDecidedByResponse === true || method === 'GET';
}

/** `problem` completes the sentence "Provider … ". */
function uselessAnswer(problem: string, failure?: Failure): ReaderChoice {
  return { kind: 'none', reason: { kind: 'damage', problem, ...(failure && { failure }) } };
}

const unrequestedStream = uselessAnswer('answered with a stream of events, which was not asked for');
const otherFile = uselessAnswer('did not answer with the rest of the file that broke off', differingFailure);

/** Passes a response of unknown format as it arrives. If it breaks off, the client's connection is broken too. */
class PassReader implements ResponseReader {
  #hasBegun = false;

  read(chunk: Buffer): Steps {
    this.#hasBegun = true;
    return [{ kind: 'pass', bytes: chunk }];
  }

  end(): Steps {
    return [{ kind: 'complete' }];
  }

  fail(error: TransportError): Steps {
    return this.#hasBegun ? [{ kind: 'break', error: brokenBy(error), event: null }] : [brokenTransport(error)];
  }
}

/** No service sends longer errors; a longer body is treated as damaged. */
const maxErrorBytes = 1024 * 1024;

/** Reads a response with status 400 or above. It is held as a whole, since another target may succeed. */
export class ErrorReader implements ResponseReader {
  readonly #facts: RequestFacts;
  readonly #head: ResponseHead;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(facts: RequestFacts, head: ResponseHead) {
    this.#facts = facts;
    this.#head = head;
  }

  read(chunk: Buffer): Steps {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    return this.#bytes > maxErrorBytes ? this.fail() : nothingYet;
  }

  end(): Steps | Promise<Steps> {
    const { status, headers } = this.#head;
    const body = Buffer.concat(this.#chunks);
    const encodings = encodingsOf(headers);
    if (encodings.length === 0 || body.length === 0) return this.#settle(headers, body);
    return decompress(encodings, body, maxErrorBytes).then((plain) => {
      if (plain) return this.#settle({ ...headers, 'content-encoding': undefined }, plain);
      return [
        damagedBy(`answered with status ${status} and a compressed error that is damaged`, this.#classify(unread)),
      ];
    });
  }

  #settle(headers: ResponseHeaders, sentBody: Buffer): Steps {
    const { status } = this.#head;
    const bytes = this.#facts.errorBody?.(status, headers, sentBody) ?? sentBody;
    const read = readError(bytes);
    const { error, isPage } = read;
    const failure = this.#classify(read);
    const body = unwrapped(read.value) ?? bytes;
    const relayedHeaders = { ...headers, ...waitHeader(failure, headers), 'content-length': String(body.length) };
    return [failWith({ kind: 'answer', failure, answer: { status, headers: relayedHeaders, body, error, isPage } })];
  }

  /** An incomplete error cannot be relayed, but its beginning may contain the reason. */
  fail(): Steps {
    const read = readError(Buffer.concat(this.#chunks));
    return [damagedBy(`answered with status ${this.#head.status} and did not end its answer`, this.#classify(read))];
  }

  #classify({ error, isPage }: Pick<ErrorInBody, 'error' | 'isPage'>): Failure {
    return failureBy({ ...this.#head, error, isPage, isAboutJob: this.#facts.route.model === 'none' });
  }
}

const unread = { error: null, isPage: false };

/** Google sends an error as a list of one element, in which SDKs find nothing. */
function unwrapped(value: unknown): Buffer | null {
  const [only, ...others]: unknown[] = Array.isArray(value) ? value : [];
  return isObject(only) && only.error && others.length === 0 ? Buffer.from(JSON.stringify(only)) : null;
}

/** SDKs read the delay from headers only. */
function waitHeader({ retryAfterMs }: Failure, headers: ResponseHeaders): Record<string, string> {
  const isStated = headers['retry-after'] !== undefined || headers['retry-after-ms'] !== undefined;
  return retryAfterMs === null || isStated ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
}
