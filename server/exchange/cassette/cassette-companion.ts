/** Cassettes on a request's course: it gets a recorded answer instead of a provider's, or has its answer recorded. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { framingOf, sseFraming } from '../../apis/core/sse-framing.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import type { CassetteChoice } from '../../contract/cassette.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { Usage } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import { ClientResponse, type ResponseOutlet, unreadMs } from '../answer/client-response.ts';
import { type LocalReply, type Pace, type StoredAnswer, sendStored } from '../answer/local-reply.ts';
import type { AdmittedRequest, Answerer, Companion, Ending, ReceivedCall, Visit } from '../course/companion.ts';
import type { ResponseSummary } from '../record/exchange-trace.ts';
import { type ClientResponseTap, joinTaps } from '../record/response-taps.ts';
import { configuredSecrets } from '../redact/redact-credential.ts';
import type { RequestBody } from '../request/request-body.ts';

/** A client's request whose body has been read. */
export interface CassetteRequest {
  /** The request id. */
  id: string;
  method: string;
  /** Path and query as the client sent them. */
  url: string;
  /** The route's path for names of files: `/v1/chat/completions`. */
  label: string;
  /** The wire's name, such as `openai-chat`. */
  wire: string;
  headers: IncomingHttpHeaders;
  /** Null if there is none. Not used after `take` has resolved. */
  body: Buffer | null;
  /** Must not be stored: the client's keys and the credentials of all providers. */
  secrets: readonly string[];
  /** What Sluice sends to keep a silent stream open; null if it sends nothing. */
  keepAlive: Buffer | null;
}

/** Records the answer of one request. */
export interface Recording extends ClientResponseTap {
  /**
   * `usage` is null if it is unknown. Returns whether there is something to record, which is written in the background. Never
   * throws.
   */
  end(ending: 'complete' | 'cut' | 'client-left', usage: Usage | null): boolean;
}

export type TakeResult =
  | { kind: 'replayed'; answer: StoredAnswer; pace: Pace }
  /** A provider answers. */
  | { kind: 'recorded'; recording: Recording };

export interface CassetteDeck {
  /** Providers are never asked. */
  readonly replaysOnly: boolean;
  /** Rejects with a GatewayError `replay_miss` if only recordings may answer and none fits. */
  take(request: CassetteRequest): Promise<TakeResult>;
  /** Resolves once all recordings are written. */
  close(): Promise<void>;
}

/** The cassettes of a gateway. */
export interface CassetteSource {
  /** Used for all requests, whatever the configuration says about their keys; null: the configuration decides. */
  readonly ofRun: CassetteDeck | null;
  /**
   * Null if the folder cannot be used in a mode that only records: then the request is served unrecorded. Otherwise
   * rejects with a GatewayError `cassette_unusable`.
   */
  open(choice: CassetteChoice): Promise<CassetteDeck | null>;
}

/** Null if requests of the key are neither recorded nor replayed; then no promise is created. */
export function findDeck(
  { ofRun, open }: CassetteSource,
  { cassette }: { cassette: CassetteChoice | null },
): CassetteDeck | Promise<CassetteDeck | null> | null {
  return ofRun ?? (cassette === null ? null : open(cassette));
}

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

interface Observed {
  tap: ClientResponseTap | null;
  outlet: ResponseOutlet | null;
}

/** A recorded answer on its way to the client. */
class ReplayedAnswer {
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

/** A request as a cassette compares and stores it. */
interface Received {
  request: IncomingMessage;
  match: RouteMatch;
  body: RequestBody;
  trace: { id: string; presentedKeys: readonly string[] };
  snapshot: Snapshot;
}

async function cassetteRequestOf({ request, match, body, trace, snapshot }: Received): Promise<CassetteRequest> {
  const { method = 'GET', url = '/', headers } = request;
  return {
    id: trace.id,
    method,
    url,
    label: match.label,
    wire: match.route.wire.name,
    headers,
    body: body.size === 0 ? null : await bytesOf(body),
    // Recordings are shared with a program's tests, so that even a word is removed that is a credential.
    secrets: [...new Set([...trace.presentedKeys, ...configuredSecrets(snapshot).all])],
    keepAlive: framingOf(match.route).keepAlive,
  };
}

async function bytesOf(body: RequestBody): Promise<Buffer> {
  if (body.captured) return body.captured;
  const prepared = await body.sendable({ model: null, askUsage: false });
  const content = prepared.open();
  return Buffer.isBuffer(content) ? content : buffer(content);
}
