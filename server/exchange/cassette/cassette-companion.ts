import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import type { Usage } from '../../contract/ledger.ts';
import type { FaultInjector } from '../faults/fault-injector.ts';
import type { ClientResponseTap } from '../record/client-response-tap.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { CassetteDeck, CassetteRequest, Recording } from './cassette-deck.ts';
import { ReplayedAnswer } from './replayed-answer.ts';

interface RequestCassetteOptions {
  response: ServerResponse;
  trace: RequestTrace;
  /** Observes a replayed response; null: nothing does. */
  tap: ClientResponseTap | null;
  /** Injects faults into a replayed response; null: none. */
  faultInjector: FaultInjector | null;
}

/** Applies a cassette to one request: replays a recorded answer, or records the answer. */
export class CassetteCompanion {
  readonly #options: RequestCassetteOptions;
  #replayed: ReplayedAnswer | null = null;
  #recording: Recording | null = null;
  #hasLeft = false;
  /** Why Sluice itself has ended the response. */
  #cutOff: GatewayError | null = null;

  constructor(options: RequestCassetteOptions) {
    this.#options = options;
  }

  /** Resolves with whether the request was answered. Rejects with a GatewayError `replay_miss`, and if it is cut off before. */
  async answer(deck: CassetteDeck, request: CassetteRequest): Promise<boolean> {
    const { response, trace, tap, faultInjector } = this.#options;
    const result = await deck.take(request);
    if (result.kind === 'recorded') {
      this.#recording = result.recording;
      return false;
    }
    trace.cassette = 'replayed';
    if (this.#cutOff) throw this.#cutOff;
    this.#replayed = new ReplayedAnswer(response, trace.id, { tap, faultInjector });
    if (this.#hasLeft) this.#replayed.clientLeft();
    await this.#replayed.send(result);
    if (this.#cutOff && !response.headersSent) throw this.#cutOff;
    trace.response = this.#replayed.summary;
    return true;
  }

  /** The tap that records the response; null if nothing is recorded. */
  get recording(): ClientResponseTap | null {
    return this.#recording;
  }

  /** Ends a replayed response. False if none is being sent. */
  cutOff(error: GatewayError): boolean {
    this.#cutOff = error;
    this.#replayed?.cutOff(error);
    return this.#replayed !== null;
  }

  clientLeft(): void {
    this.#hasLeft = true;
    this.#replayed?.clientLeft();
  }

  /** Must be called once the request has ended. */
  end(usage: Usage | null): void {
    const { response, trace, faultInjector } = this.#options;
    const ending = trace.response.outcome === 'client-gone' ? 'client-left' : 'cut';
    const isComplete = ending === 'cut' && (faultInjector?.hasAll ?? response.writableEnded);
    if (this.#recording?.end(isComplete ? 'complete' : ending, usage)) trace.cassette = 'recorded';
  }
}
