import type { ServerResponse } from 'node:http';
import { sseFraming } from '../../apis/core/streams/sse-framing.ts';
import type { GatewayError } from '../../contract/errors.ts';
import { ClientResponse, type ResponseOutlet, unreadMs } from '../answer/client-response.ts';
import { sendStored } from '../answer/stored-answer.ts';
import type { ClientResponseTap } from '../record/client-response-tap.ts';
import type { ResponseSummary } from '../record/exchange-trace.ts';
import type { TakeResult } from './cassette-deck.ts';

interface Observed {
  tap: ClientResponseTap | null;
  outlet: ResponseOutlet | null;
}

/** A recorded answer on its way to the client. */
export class ReplayedAnswer {
  readonly #client: ClientResponse;
  readonly #clientGone = new AbortController();

  constructor(response: ServerResponse, requestId: string, { tap, outlet }: Observed) {
    const settings = { framing: sseFraming, keepAliveMs: 0, unreadMs, showsAttempts: false };
    this.#client = new ClientResponse({ response, requestId, tap, outlet, ...settings });
  }

  get summary(): ResponseSummary {
    return this.#client.summary;
  }

  send({ answer, pace }: Extract<TakeResult, { kind: 'replayed' }>): Promise<void> {
    const answerer = { provider: 'cassette', attempts: 0, headers: { 'x-sluice-replay': 'hit' } };
    return sendStored(this.#client, answer, { pace, answerer, clientGone: this.#clientGone.signal });
  }

  /** Breaks the connection if the client has part of the answer: recorded pieces may end within an event. */
  cutOff(error: GatewayError): void {
    if (this.#client.hasBegun) this.#client.abort(error, null);
    this.#clientGone.abort();
  }

  clientLeft(): void {
    this.#client.left();
    this.#clientGone.abort();
  }
}
