import { isObject } from '../../contract/is-object.ts';
import { classifyAnswer, type Failure } from '../../routing/classify-failure.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import {
  type Asked,
  damagedBy,
  failWith,
  nothingYet,
  type ResponseHead,
  type ResponseReader,
  type Steps,
} from './response-reader.ts';

/** Longer than any error of a service; what is not over by then is no error but a fault. */
const maxBytes = 1024 * 1024;

/** A response with a status from 400 on: held whole, since another target may do better. */
export class ErrorReader implements ResponseReader {
  readonly #asked: Asked;
  readonly #head: ResponseHead;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(asked: Asked, head: ResponseHead) {
    this.#asked = asked;
    this.#head = head;
  }

  read(chunk: Buffer): Steps {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    return this.#bytes > maxBytes ? this.fail() : nothingYet;
  }

  end(): Steps {
    const { status, headers } = this.#head;
    const body = Buffer.concat(this.#chunks);
    const failure = this.#classify(body);
    const passing = unwrapped(body);
    const told = { ...headers, ...waitHeader(failure, headers), 'content-length': String(passing.length) };
    return [failWith({ kind: 'answer', failure, answer: { status, headers: told, body: passing } })];
  }

  /** Without its end it cannot be relayed, but what came of it may say why. */
  fail(): Steps {
    const what = `answered with status ${this.#head.status} and did not end its answer`;
    return [damagedBy(what, this.#classify(Buffer.concat(this.#chunks)))];
  }

  #classify(body: Buffer): Failure {
    const isAboutJob = this.#asked.route.model === 'none';
    return classifyAnswer({ ...this.#head, body: body.toString('utf8'), isAboutJob });
  }
}

/** Google tells an error as a list of one, in which SDKs find nothing. */
function unwrapped(body: Buffer): Buffer {
  if (body[0] !== openingBracket) return body;
  const [only, ...others] = parseArray(body.toString('utf8'));
  return isObject(only) && only.error && others.length === 0 ? Buffer.from(JSON.stringify(only)) : body;
}

/** SDKs look for the wait in the headers alone. */
function waitHeader({ retryAfterMs }: Failure, headers: ResponseHeaders): Record<string, string> {
  const isTold = headers['retry-after'] !== undefined || headers['retry-after-ms'] !== undefined;
  return retryAfterMs === null || isTold ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
}

const openingBracket = 0x5b;

function parseArray(json: string): unknown[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
