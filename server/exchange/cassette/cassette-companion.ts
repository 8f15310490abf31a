import type { GatewayError } from '../../contract/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { LocalReply } from '../answer/local-reply.ts';
import type { AdmittedRequest, Answerer, Companion, Ending, ReceivedCall, Visit } from '../course/companion.ts';
import { joinTaps } from '../record/client-response-tap.ts';
import {
  type CassetteDeck,
  type CassetteRequest,
  type CassetteSource,
  findDeck,
  type Recording,
} from './cassette-deck.ts';
import { cassetteRequestOf } from './cassette-request.ts';
import { ReplayedAnswer } from './replayed-answer.ts';

/** Replays recorded answers, or records them, for the keys that are set so. */
export class CassetteCompanion implements Companion {
  readonly #source: CassetteSource;

  constructor(source: CassetteSource) {
    this.#source = source;
  }

  admitted(admitted: AdmittedRequest): MaybePromise<Visit | null> {
    if (admitted.match === null) return null;
    const opening = findDeck(this.#source, admitted.member.key);
    const visit = (deck: CassetteDeck | null) => deck && new CassetteVisit(deck, admitted);
    return opening instanceof Promise ? opening.then(visit) : visit(opening);
  }
}

/** One request: its answer is replayed, or recorded. */
export class CassetteVisit implements Visit, Answerer {
  readonly needsWholeBody = true;
  readonly asksNobody: boolean;
  readonly #deck: CassetteDeck;
  readonly #admitted: AdmittedRequest;
  #replayed: ReplayedAnswer | null = null;
  #recording: Recording | null = null;
  #hasLeft = false;
  /** Why Sluice itself has ended the response. */
  #cutOff: GatewayError | null = null;

  constructor(deck: CassetteDeck, admitted: AdmittedRequest) {
    this.#deck = deck;
    this.asksNobody = deck.replaysOnly;
    this.#admitted = admitted;
  }

  async received(call: ReceivedCall): Promise<boolean> {
    const { match, body } = call;
    const { request, trace, snapshot } = this.#admitted;
    call.answeredBy(this);
    trace.model = match.model ?? body.fields.model;
    return this.answer(await cassetteRequestOf({ request, match, body, trace, snapshot }));
  }

  /** Resolves with whether the request was answered. Rejects with a GatewayError `replay_miss`, and if it is cut off before. */
  async answer(request: CassetteRequest): Promise<boolean> {
    const { response, trace, taps, outlet } = this.#admitted;
    const result = await this.#deck.take(request);
    if (result.kind === 'recorded') {
      this.#recording = result.recording;
      taps.push(result.recording);
      return false;
    }
    trace.cassette = 'replayed';
    if (this.#cutOff) throw this.#cutOff;
    this.#replayed = new ReplayedAnswer(response, trace.id, { tap: joinTaps(taps), outlet });
    if (this.#hasLeft) this.#replayed.clientLeft();
    await this.#replayed.send(result);
    if (this.#cutOff && !response.headersSent) throw this.#cutOff;
    trace.response = this.#replayed.summary;
    return true;
  }

  replied({ status, headers, body }: LocalReply, isError: boolean): void {
    if (isError) return;
    this.#recording?.begin(status, headers);
    this.#recording?.take(body);
  }

  cutOff(error: GatewayError): boolean {
    this.#cutOff = error;
    this.#replayed?.cutOff(error);
    return this.#replayed !== null;
  }

  clientLeft(): void {
    this.#hasLeft = true;
    this.#replayed?.clientLeft();
  }

  answered({ accounting: { usage } }: Ending): void {
    const { response, trace, outlet } = this.#admitted;
    const ending = trace.response.outcome === 'client-gone' ? 'client-left' : 'cut';
    const isComplete = ending === 'cut' && (outlet?.hasAll ?? response.writableEnded);
    if (this.#recording?.end(isComplete ? 'complete' : ending, usage)) trace.cassette = 'recorded';
  }
}
