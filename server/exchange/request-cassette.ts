import type { ServerResponse } from 'node:http';
import type { Usage } from '../contract/ledger.ts';
import type { CassetteDeck, CassetteRequest, Recording } from './cassette-deck.ts';
import type { RequestTrace } from './exchange-trace.ts';
import type { FaultInjector } from './faults/fault-injector.ts';
import { ReplayedAnswer } from './replayed-answer.ts';
import type { ResponseTap } from './response-tap.ts';

interface RequestCassetteOptions {
  response: ServerResponse;
  trace: RequestTrace;
  /** Sees a replayed response. */
  tap: ResponseTap | null;
  /** What the client meets of a replayed response. */
  faultInjector: FaultInjector | null;
}

/** What a cassette does to one request: it answers it, or records what is answered. */
export class RequestCassette {
  readonly #options: RequestCassetteOptions;
  #replayed: ReplayedAnswer | null = null;
  #recording: Recording | null = null;
  #hasLeft = false;

  constructor(options: RequestCassetteOptions) {
    this.#options = options;
  }

  /** Resolves with whether the request was answered. Rejects with a GatewayError `replay_miss`. */
  async answer(deck: CassetteDeck, request: CassetteRequest): Promise<boolean> {
    const { response, trace, tap, faultInjector } = this.#options;
    const taken = await deck.take(request);
    if (taken.kind === 'recorded') {
      this.#recording = taken.recording;
      return false;
    }
    trace.cassette = 'replayed';
    this.#replayed = new ReplayedAnswer(response, trace.id, { tap, faultInjector });
    if (this.#hasLeft) this.#replayed.clientLeft();
    await this.#replayed.send(taken);
    trace.response = this.#replayed.summary;
    return true;
  }

  /** What has to see the response; null: nothing is recorded. */
  get recording(): ResponseTap | null {
    return this.#recording;
  }

  clientLeft(): void {
    this.#hasLeft = true;
    this.#replayed?.clientLeft();
  }

  /** Must be called once the request has ended. */
  end(usage: Usage | null): void {
    const { response, trace, faultInjector } = this.#options;
    const broken = trace.response.outcome === 'client-gone' ? 'client-left' : 'cut';
    const isComplete = broken === 'cut' && (faultInjector?.hasAll ?? response.writableEnded);
    if (this.#recording?.end(isComplete ? 'complete' : broken, usage)) trace.cassette = 'recorded';
  }
}
