import { AwakeTimer } from '../../awake-clock.ts';
import { isObject } from '../../contract/is-object.ts';
import { classifyAnswer, type Failure } from '../../routing/classify-failure.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { ReplyBody, ReplyHost } from './response-reader.ts';

/** Longer than any error of a service; what is not over by then is no error but a fault. */
const maxBytes = 1024 * 1024;
/** The status says already that it has failed, so nobody waits long for the reason. */
const patienceMs = 5_000;

/** An answer with a status from 400 on: held whole, since another target may do better. */
export class RefusedReply implements ReplyBody {
  readonly #host: ReplyHost;
  readonly #patience: AwakeTimer;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(host: ReplyHost) {
    this.#host = host;
    this.#patience = new AwakeTimer(() => this.fail(), patienceMs);
  }

  take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) this.fail();
  }

  end(): void {
    const { status, headers } = this.#host;
    const failure = this.#classify();
    const body = unwrapped(Buffer.concat(this.#chunks));
    const told = { ...headers, ...waitHeader(failure, headers), 'content-length': String(body.length) };
    this.#host.refuse(failure, { status, headers: told, body });
  }

  /** Without its end it cannot be relayed, but what came of it may say why. */
  fail(): void {
    this.#host.damaged(`answered with status ${this.#host.status} and did not end its answer`, this.#classify());
  }

  isComplete(): boolean {
    return false;
  }

  dispose(): void {
    this.#patience.clear();
  }

  #classify(): Failure {
    const { status, headers, route } = this.#host;
    const body = Buffer.concat(this.#chunks).toString('utf8');
    return classifyAnswer({ status, headers, body, isAboutJob: route.model === 'none' });
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
