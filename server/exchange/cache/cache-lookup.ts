/** One request and the response cache of its group: from the look-up until the request's own answer is stored. */
import type { ServerResponse } from 'node:http';
import { framingOf } from '../../apis/core/streams/sse-framing.ts';
import type { AnswerCache } from '../../cache/answer-cache.ts';
import type { CachedAnswer, Flight, GroupCache } from '../../cache/group-cache.ts';
import type { CacheSettings } from '../../contract/answer-cache.ts';
import type { CacheNote, RequestRecord } from '../../contract/ledger.ts';
import { isEventStream } from '../answer/client-headers.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import { CacheRecorder } from './cache-recorder.ts';
import { type CacheUse, cacheHeader, cacheUseOf } from './may-be-cached.ts';
import { requestKey } from './request-key.ts';

interface LookupOptions {
  settings: CacheSettings;
  cache: GroupCache;
  use: Exclude<CacheUse, 'none'>;
  key: string;
  response: ServerResponse;
}

interface CacheLookupInput {
  cache: AnswerCache;
  settings: CacheSettings;
  plan: CallPlan;
  call: OutgoingCall;
  response: ServerResponse;
}

/** Null if the cache does not apply to the request. */
export function lookUpInCache({ cache, settings, plan, call, response }: CacheLookupInput): CacheLookup | null {
  const { headers } = response.req;
  const use = cacheUseOf(call, headers, settings);
  if (use === 'none') return null;
  const key = requestKey(plan, call, headers['x-sluice-lossy']);
  return new CacheLookup({ settings, cache: cache.of(call.group.id), use, key, response });
}

export class CacheLookup {
  /** Aborted when the client leaves. */
  readonly gone = new AbortController();
  readonly #options: LookupOptions;
  readonly #generation: number;
  #tap: CacheRecorder | null = null;
  #flight: Flight | null = null;

  constructor(options: LookupOptions) {
    this.#options = options;
    this.#generation = options.cache.generation;
  }

  /**
   * The answer to send, with a note for the ledger; null if the request has to be sent to a provider. Waits for an
   * equal request that is running, if the group is configured so.
   */
  async find(call: OutgoingCall): Promise<{ answer: CachedAnswer; note: CacheNote } | null> {
    const { settings, cache, use, key, response } = this.#options;
    const stored = use === 'refresh' ? null : cache.find(key, settings.ttlSeconds * 1000);
    if (stored) return this.#foundAnswer(stored, 'hit');
    if (use === 'refresh' || !settings.coalesce) return null;
    const running = cache.flight(key);
    // Before any wait, so that only one of two equal requests becomes the first.
    if (!running) {
      this.#flight = cache.startFlight(key);
      return null;
    }
    const sharedAnswer = await Promise.race([running.landed, this.#whenGone()]);
    // A comment has made the response a stream.
    const isFit =
      !response.headersSent || (sharedAnswer && isEventStream(sharedAnswer.headers, framingOf(call.match.route)));
    return sharedAnswer && isFit ? this.#foundAnswer(sharedAnswer, 'shared') : null;
  }

  /** The tap that copies a provider's answer, so that it can be stored. */
  miss(call: OutgoingCall): { tap: CacheRecorder; note: CacheNote } {
    const { settings, cache, response } = this.#options;
    cache.count('misses', null);
    const { keepAlive: comment, contentType } = framingOf(call.match.route);
    this.#tap = new CacheRecorder(response, { maxBytes: settings.maxBytes, comment });
    if (response.headersSent) this.#tap.begin(200, { 'content-type': contentType });
    else response.setHeader(cacheHeader, 'miss');
    return { tap: this.#tap, note: { result: 'miss', savedUsd: null, savedUsage: null } };
  }

  /**
   * Must be called when the request has ended: stores its answer if that is complete, and resumes the requests that
   * wait for it.
   */
  settle(trace: RequestTrace, record: RequestRecord): void {
    const { settings, cache, key } = this.#options;
    const response = isWhole(trace) ? (this.#tap?.read() ?? null) : null;
    this.#tap = null;
    const answer = response && {
      ...response,
      usage: record.usage,
      costUsd: record.costUsd,
      modelServed: record.modelServed,
    };
    if (answer) cache.store(key, answer, { generation: this.#generation, maxBytes: settings.maxBytes });
    this.#flight?.land(answer);
  }

  #foundAnswer(answer: CachedAnswer, result: 'hit' | 'shared'): { answer: CachedAnswer; note: CacheNote } {
    const note: CacheNote = { result, savedUsd: answer.costUsd, savedUsage: answer.usage };
    this.#options.cache.count(result === 'hit' ? 'hits' : 'shared', answer.costUsd);
    return { answer, note };
  }

  #whenGone(): Promise<null> {
    const { signal } = this.gone;
    return new Promise((resolve) => {
      if (signal.aborted) resolve(null);
      else signal.addEventListener('abort', () => resolve(null), { once: true });
    });
  }
}

/** Whether the client has received a complete and undamaged answer of a single provider. */
function isWhole({ response, answering, attempts, createdJob }: RequestTrace): boolean {
  if (response.outcome !== 'ok' || !answering || createdJob) return false;
  const { failure, error, droppedEvents } = answering.record;
  const isRescued = attempts.some(({ record }) => record.cause === 'rescue');
  return failure === null && error === null && droppedEvents === 0 && !isRescued;
}
