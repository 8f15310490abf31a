/** What was sent and received of a request, if it is to be kept. */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type {
  CapturedAttempt,
  CapturedExchange,
  CapturedRequest,
  CapturedResponse,
  CaptureGap,
} from '../../contract/capture.ts';
import type { RequestRecord } from '../../contract/ledger.ts';
import { finish, finishInSlices, type MaybePromise, type Steps } from '../../ground/promises.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import { type CaptureSwitch, captureHeader } from '../../store/rules/capture-switch.ts';
import type { FoundRequest } from '../../store/rules/request-conditions.ts';
import { containsPhrases, phrasesOf } from '../../store/rules/searchable-text.ts';
import { indexedText } from '../../store/sqlite/text-index.ts';
import type { LocalReply } from '../answer/local-reply.ts';
import type { AdmittedRequest, Companion, ReceivedCall, Visit } from '../course/companion.ts';
import type { AttemptTrace, RequestTrace } from '../record/exchange-trace.ts';
import type { Headers } from '../record/response-taps.ts';
import { overlapBytes, redactUrl, secretsOf } from '../redact/redact-credential.ts';
import { Redactor } from '../redact/redactor.ts';
import type { RequestBody } from '../request/request-body.ts';
import {
  AttemptCapture,
  type CaptureRules,
  type ClientSide,
  capturedMessage,
  isPlain,
  ownBody,
  type RawBody,
  ResponseCapture,
  withoutBody,
  withoutSecrets,
} from './attempt-capture.ts';

export interface CapturePorts {
  captureSwitch: Pick<CaptureSwitch, 'causeOf' | 'isRecent'>;
  recentCaptures: Pick<RecentCaptures, 'keep'>;
  /** Stores headers and bodies. */
  captures: WaitingCaptures;
}

/** Keeps what is sent and received: because it was asked for, or for a while and in memory only. */
export class CaptureCompanion implements Companion {
  readonly #ports: CapturePorts;

  constructor(ports: CapturePorts) {
    this.#ports = ports;
  }

  admitted(admitted: AdmittedRequest): Visit | null {
    const { request, trace, member, snapshot } = admitted;
    const { captureSwitch, captures, recentCaptures } = this.#ports;
    const cause = captureSwitch.causeOf(member, request.headers[captureHeader]);
    if (cause === null && !captureSwitch.isRecent(member)) return null;
    trace.captured = cause;
    const maxBytes = cause === null ? recentBodyBytes : snapshot.settings.capture.maxBytes;
    const capture = new ExchangeCapture({ maxBytes, request, secrets: trace.secrets });
    admitted.taps.push(capture.response);
    return new CaptureVisit(capture, trace.secrets, ({ startedAt, groupId }) => {
      if (cause === null) recentCaptures.keep({ id: trace.id, startedAt, groupId }, capture.hold(trace));
      else captures.add(trace.id, capture.exchange(trace));
    });
  }
}

class CaptureVisit implements Visit {
  readonly #keep: (record: RequestRecord) => void;
  readonly #capture: ExchangeCapture;
  readonly #secrets: readonly string[];

  /** @param keep called when an exchange with a row has ended */
  constructor(capture: ExchangeCapture, secrets: readonly string[], keep: (record: RequestRecord) => void) {
    this.#capture = capture;
    this.#secrets = secrets;
    this.#keep = keep;
  }

  ended(record: RequestRecord, hasRow: boolean): void {
    if (hasRow) this.#keep(record);
  }

  unusable(start: Buffer, isCut: boolean): void {
    this.#capture.unusable(start, isCut);
  }

  received({ body }: ReceivedCall): false {
    this.#capture.received(body);
    return false;
  }

  sent(attempt: AttemptTrace, { credential }: NextAttempt): void {
    attempt.tap = this.#capture.attempt(secretsOf(this.#secrets, credential));
  }

  replied(reply: LocalReply, isError: boolean): void {
    if (isError) this.#capture.refused(reply);
    else this.#capture.answeredBySluice();
  }
}

type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

interface ExchangeCaptureOptions {
  /** Of each body. */
  maxBytes: number;
  request: RequestHead;
  /** The keys that the client sent, and the providers' credentials. */
  secrets: readonly string[];
}

/** What is known of an exchange at its end. */
interface EndedTrace {
  attempts: readonly Pick<RequestTrace['attempts'][number], 'record'>[];
  response: Pick<RequestTrace['response'], 'outcome' | 'status'>;
}

/**
 * Captures one exchange: what the client sent and received, and what each attempt sent and received. Secrets are removed
 * at the end, when those of all attempts are known. Does not know where or how long captures are stored.
 */
class ExchangeCapture {
  #options: ExchangeCaptureOptions;
  /** As the client receives it. */
  readonly response: ResponseCapture;
  readonly #attempts: AttemptCapture[] = [];
  #receivedBody: RequestBody | null = null;
  #unusableBody: RawBody | null = null;
  #isOwnAnswer = false;

  constructor(options: ExchangeCaptureOptions) {
    this.#options = options;
    this.response = new ResponseCapture(options.maxBytes);
  }

  /** The client's body, which must not be disposed of before `exchange` is called. */
  received(body: RequestBody): void {
    this.#receivedBody = body;
  }

  /** A body that was read, in full or in part, but cannot be used. Its memory may be reused afterwards. */
  unusable(start: Buffer, isCut: boolean): void {
    const searchedBytes = this.#options.maxBytes + overlapBytes;
    this.#unusableBody = { start: Buffer.from(start.subarray(0, searchedBytes)), totalBytes: start.length, isCut };
  }

  /** Begins the capture of the next attempt. */
  attempt(secrets: readonly string[]): AttemptCapture {
    const attempt = new AttemptCapture(this.#options.maxBytes, secrets);
    this.#attempts.push(attempt);
    return attempt;
  }

  /** Sluice answers by itself; the answer is not kept. */
  answeredBySluice(): void {
    this.#isOwnAnswer = true;
  }

  /** Sluice answers with an error. */
  refused({ status, headers, body }: { status: number; headers: Headers; body: Buffer }): void {
    this.response.begin(status, headers);
    this.response.take(body);
  }

  /** Returns a promise for long bodies, in which secrets are sought in slices. Resolves with null if too many wait for that. */
  exchange(trace: EndedTrace): MaybePromise<CapturedExchange<Buffer> | null> {
    return this.#exchange({ body: this.#body, response: this.response }, trace);
  }

  /** The same, for later: with its own copies of the bytes, and without the request, whose socket goes on. */
  hold({ attempts, response }: EndedTrace): HeldExchange {
    const body = this.#body;
    const client: ClientSide = {
      body: typeof body === 'string' ? body : ownBody(body, this.#options.maxBytes),
      response: this.response,
    };
    const bytes = [
      typeof client.body === 'string' ? 0 : client.body.start.length,
      client.response.own(null),
      ...this.#attempts.map((attempt) => attempt.own(client)),
    ];
    const trace = { response, attempts: attempts.map(({ record }) => ({ record })) };
    this.#receivedBody = null;
    this.#unusableBody = null;
    const { method, url, headers } = this.#options.request;
    this.#options = { ...this.#options, request: { method, url, headers } as RequestHead };
    return {
      bytes: bytes.reduce((sum, each) => sum + each, 0),
      exchange: () => this.#exchange(client, trace),
    };
  }

  #exchange(client: ClientSide, trace: EndedTrace): MaybePromise<CapturedExchange<Buffer> | null> {
    const secrets = [...new Set([...this.#options.secrets, ...this.#attempts.flatMap((each) => each.secrets)])];
    const rules = { maxBytes: this.#options.maxBytes, secrets, redactor: new Redactor(secrets) };
    const withSecrets = {
      request: capturedRequest(this.#options.request, client.body, rules),
      response: this.#response(trace, rules),
      attempts: trace.attempts.flatMap(
        ({ record }, index) => this.#attempts[index]?.captured(record, client, rules) ?? [],
      ),
    };
    return redactedExchange(withSecrets, rules);
  }

  #response({ response: { outcome, status } }: EndedTrace, rules: CaptureRules): CapturedResponse<Buffer> {
    if (this.#isOwnAnswer) return { ...this.response.unkept('own-answer', rules), status };
    if (status === null) return this.response.unkept('not-sent', rules);
    return this.response.captured(rules, outcome === 'ok' || outcome === 'error');
  }

  get #body(): RawBody | CaptureGap {
    if (this.#unusableBody) return this.#unusableBody;
    const body = this.#receivedBody;
    if (body?.captured) return { start: body.captured, totalBytes: null };
    if (body && body.size > 0) return gapOf(body, this.#options.request);
    return body || !mayHaveBody(this.#options.request) ? { start: Buffer.alloc(0), totalBytes: 0 } : 'unread';
  }
}

function capturedRequest(
  { method = '', url = '', headers }: RequestHead,
  body: ClientSide['body'],
  rules: CaptureRules,
): CapturedRequest<Buffer> {
  const message = typeof body === 'string' ? withoutBody(headers, body, rules) : capturedMessage(headers, body, rules);
  return { method, url: redactUrl(url, rules.secrets), ...message };
}

/** Why a body that was read is not in memory. */
function gapOf({ isSingleUse, contentType }: RequestBody, { headers }: RequestHead): CaptureGap {
  if (isSingleUse) return 'relayed';
  return isPlain(headers) || contentType.startsWith('multipart/') ? 'upload' : 'compressed';
}

function mayHaveBody({ headers }: RequestHead): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Up to here all is done at once. */
const mostBytesAtOnce = 16 * 1024;
/** Of exchanges that wait in memory. Those of one that is larger alone are kept all the same. */
const mostBytesWaiting = 64 * 1024 * 1024;

let waitingBytes = 0;

/**
 * Takes the secrets out of a whole exchange. A body of 256 kB takes about 20 ms, which no other request may wait for, so that long ones
 * are searched in slices.
 *
 * Null if too many are waiting already: memory must not fill with them.
 */
function redactedExchange(
  exchange: CapturedExchange<Buffer>,
  rules: CaptureRules,
): MaybePromise<CapturedExchange<Buffer> | null> {
  const bytes = bytesOf(exchange);
  const steps = redactionSteps(exchange, rules);
  if (bytes <= mostBytesAtOnce) return finish(steps);
  if (waitingBytes > 0 && waitingBytes + bytes > mostBytesWaiting) return null;
  waitingBytes += bytes;
  return finishInSlices(steps).finally(() => {
    waitingBytes -= bytes;
  });
}

function bytesOf(exchange: CapturedExchange<Buffer>): number {
  const messages = [exchange, ...exchange.attempts].flatMap(({ request, response }) => [request, response]);
  return messages.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
}

function* redactionSteps(exchange: CapturedExchange<Buffer>, rules: CaptureRules): Steps<CapturedExchange<Buffer>> {
  const both = yield* redacted(exchange, rules);
  const attempts: CapturedAttempt<Buffer>[] = [];
  for (const each of exchange.attempts) attempts.push(yield* redacted(each, rules));
  return { ...both, attempts };
}

function* redacted(
  { request, response }: CapturedAttempt<Buffer>,
  rules: CaptureRules,
): Steps<CapturedAttempt<Buffer>> {
  return { request: yield* withoutSecrets(request, rules), response: yield* withoutSecrets(response, rules) };
}

/** Of each body; the rest is cut. */
export const recentBodyBytes = 256 * 1024;
const mostRequests = 50;
const mostBytes = 16 * 1024 * 1024;

type EndedRequest = Pick<RequestRecord, 'id' | 'startedAt' | 'groupId'>;

/** An exchange that has ended, with its own copies of what is kept of it. */
interface HeldExchange {
  bytes: number;
  /** Without secrets. Null if too many are being searched for them. */
  exchange(): MaybePromise<CapturedExchange<Buffer> | null>;
}

interface RecentRequest extends EndedRequest {
  held: HeldExchange;
  /** By which a search finds it; null until one has looked. */
  words: string | null;
}

/**
 * The newest requests of a laptop where capture is off: in memory until Sluice ends, and in no ledger, index or export.
 * Secrets are removed when somebody looks, so that a request costs no more than the copy of its bytes.
 */
export class RecentCaptures {
  readonly #recent = new Map<string, RecentRequest>();
  #bytes = 0;
  /** By group, when the first request started that was kept: a group may be left out. */
  readonly #since = new Map<string | null, number>();
  #displacedUntil = Number.NEGATIVE_INFINITY;

  keep({ id, startedAt, groupId }: EndedRequest, held: HeldExchange): void {
    this.#since.set(groupId, Math.min(startedAt, this.#since.get(groupId) ?? startedAt));
    this.#recent.set(id, { id, startedAt, groupId, held, words: null });
    this.#bytes += held.bytes;
    this.#trim();
  }

  find(id: string): MaybePromise<CapturedExchange<Buffer> | null> {
    return this.#recent.get(id)?.held.exchange() ?? null;
  }

  /** Whether it was here, until newer ones needed its room. */
  isDisplaced({ id, startedAt, groupId }: EndedRequest): boolean {
    if (this.#recent.has(id)) return false;
    return startedAt <= this.#displacedUntil && startedAt >= (this.#since.get(groupId) ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Those that a search of stored captures would find if they were stored; but for one whose secrets cannot be removed now,
   * because too many others wait for that.
   */
  async search(search: string): Promise<FoundRequest[]> {
    const phrases = phrasesOf(search);
    if (phrases.length === 0) return [];
    const found: FoundRequest[] = [];
    for (const recent of [...this.#recent.values()]) {
      const words = recent.words ?? (await this.#read(recent));
      if (words !== null && containsPhrases(words, phrases) && this.#isKept(recent)) found.push(recent);
    }
    return found.map(({ id, startedAt }) => ({ id, startedAt }));
  }

  /** Of the requests that are held. */
  ids(): ReadonlySet<string> {
    return new Set(this.#recent.keys());
  }

  clear(): void {
    this.#recent.clear();
    this.#since.clear();
    this.#bytes = 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  #isKept(recent: RecentRequest): boolean {
    return this.#recent.get(recent.id) === recent;
  }

  /** Remembers the words, since searches follow each other while somebody types. Lets other work run in between. */
  async #read(recent: RecentRequest): Promise<string | null> {
    await setImmediate();
    const exchange = await recent.held.exchange();
    if (!exchange) return null;
    const { request, response, attempts } = exchange;
    const bodiesOf = (each: CapturedAttempt<Buffer>) => ({ request: each.request.body, response: each.response.body });
    const words = indexedText(bodiesOf({ request, response }), attempts.map(bodiesOf));
    if (recent.words === null && this.#isKept(recent)) {
      recent.words = words;
      this.#bytes += bytesOfWords(recent);
      this.#trim();
    }
    return words;
  }

  #trim(): void {
    for (const [oldest, recent] of this.#recent) {
      if (this.#recent.size <= mostRequests && this.#bytes <= mostBytes) return;
      this.#recent.delete(oldest);
      this.#displacedUntil = Math.max(this.#displacedUntil, recent.startedAt);
      this.#bytes -= recent.held.bytes + bytesOfWords(recent);
    }
  }
}

/** As V8 holds them at most. */
const bytesOfWords = ({ words }: RecentRequest) => 2 * (words?.length ?? 0);

type Redacted = CapturedExchange<Buffer> | null;

interface Ports {
  ledger: { capture(id: string, exchange: CapturedExchange<Buffer>): void };
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Captures whose long bodies are still searched for secrets are written when they are ready. */
export class WaitingCaptures {
  readonly #ports: Ports;
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** @param exchange null if it could not wait */
  add(id: string, exchange: MaybePromise<Redacted>): void {
    if (!(exchange instanceof Promise)) {
      this.#write(id, exchange);
      return;
    }
    const { log } = this.#ports;
    const writing = exchange.then(
      (redacted) => this.#write(id, redacted),
      (error) => log.error({ request: id, error }, 'a request cannot be captured'),
    );
    this.#waiting.set(id, writing);
    writing.finally(() => this.#waiting.delete(id));
  }

  /** Resolves when the capture of this request is written, if it waits. */
  async ready(id: string): Promise<void> {
    await this.#waiting.get(id);
  }

  /** Resolves when none waits. */
  async settled(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting.values());
  }

  #write(id: string, redacted: Redacted): void {
    const { ledger, log } = this.#ports;
    if (redacted) ledger.capture(id, redacted);
    else log.warn({ request: id }, 'a request is not captured, since too many are captured at the same time');
  }
}
