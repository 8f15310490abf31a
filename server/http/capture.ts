/**
 * The bodies of one request, for a group that wants them kept: the beginning of the reply as it passes, and the request's
 * own if it is held in memory anyway. Knows neither where they are kept nor for how long.
 */
import type { CompiledCredential } from '../routing/snapshot.ts';
import type { IncomingBody } from './outgoing-body.ts';
import { redactBytes } from './redact-credential.ts';
import type { ReplyInspector } from './reply-inspector.ts';

export interface CapturedBodies {
  request?: Buffer;
  response: Buffer;
}

export class Capture implements ReplyInspector {
  readonly #maxBytes: number;
  #credential: CompiledCredential | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** To be called before each sending: what an attempt before it left behind never reached the client. */
  restart(credential: CompiledCredential | null): void {
    this.#credential = credential;
    this.#chunks = [];
    this.#bytes = 0;
  }

  begin(): void {}

  take(chunk: Buffer): void {
    if (this.#bytes >= this.#maxBytes) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  bodies(request: IncomingBody | undefined): CapturedBodies {
    const response = redactBytes(Buffer.concat(this.#chunks), this.#credential);
    return request?.captured ? { request: request.captured, response } : { response };
  }
}
