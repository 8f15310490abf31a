import { AwakeTimer } from '../../awake-clock.ts';
import { isObject } from '../../contract/is-object.ts';
import { readErrorBody } from '../../http/reply/error-body.ts';
import { classifyAnswer, type Failure } from '../../routing/classify-failure.ts';
import { errorIn, type UpstreamError } from '../../routing/upstream-error.ts';
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
    const bytes = Buffer.concat(this.#chunks);
    const value = readErrorBody(bytes);
    const error = errorIn(value);
    const failure = this.#classify(error);
    const body = unwrapped(value) ?? bytes;
    const told = { ...headers, ...waitHeader(failure, headers), 'content-length': String(body.length) };
    this.#host.refuse(failure, { status, headers: told, body, error });
  }

  /** Without its end it cannot be relayed, but what came of it may say why. */
  fail(): void {
    const error = errorIn(readErrorBody(Buffer.concat(this.#chunks)));
    this.#host.damaged(`answered with status ${this.#host.status} and did not end its answer`, this.#classify(error));
  }

  isComplete(): boolean {
    return false;
  }

  dispose(): void {
    this.#patience.clear();
  }

  #classify(error: UpstreamError | null): Failure {
    const { status, headers, route } = this.#host;
    return classifyAnswer({ status, headers, error, isAboutJob: route.model === 'none' });
  }
}

/** Google tells an error as a list of one, in which SDKs find nothing. */
function unwrapped(value: unknown): Buffer | null {
  const [only, ...others]: unknown[] = Array.isArray(value) ? value : [];
  return isObject(only) && only.error && others.length === 0 ? Buffer.from(JSON.stringify(only)) : null;
}

/** SDKs look for the wait in the headers alone. */
function waitHeader({ retryAfterMs }: Failure, headers: ResponseHeaders): Record<string, string> {
  const isTold = headers['retry-after'] !== undefined || headers['retry-after-ms'] !== undefined;
  return retryAfterMs === null || isTold ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
}
