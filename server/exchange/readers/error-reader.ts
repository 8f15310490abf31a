import { type ErrorInBody, readError } from '../../apis/core/errors/error-body.ts';
import { failureBy } from '../../apis/core/errors/verdict.ts';
import type { Failure } from '../../apis/core/failure.ts';
import { isObject } from '../../contract/is-object.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import { decompress, encodingsOf } from './encodings.ts';
import {
  damagedBy,
  failWith,
  nothingYet,
  type RequestFacts,
  type ResponseHead,
  type ResponseReader,
  type Steps,
} from './response-reader.ts';

/** No service sends longer errors; a longer body is treated as damaged. */
const maxBytes = 1024 * 1024;

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
    return this.#bytes > maxBytes ? this.fail() : nothingYet;
  }

  end(): Steps | Promise<Steps> {
    const { status, headers } = this.#head;
    const body = Buffer.concat(this.#chunks);
    const encodings = encodingsOf(headers);
    if (encodings.length === 0 || body.length === 0) return this.#settle(headers, body);
    return decompress(encodings, body, maxBytes).then((plain) => {
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
