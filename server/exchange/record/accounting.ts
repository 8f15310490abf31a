/**
 * Determines usage and cost of each attempt of a request: read from the end of its response, or estimated if that
 * reports none. Runs once, at the end of the request.
 */

import { referredIn } from '../../apis/core/referred-input.ts';
import type { ExtractedUsage, KeptAnswer, TextEstimates, UsageFormat } from '../../apis/core/wire.ts';
import { isUnpricedAttempt } from '../../contract/count.ts';
import type { AskedTerms, AttemptRecord, Usage, UsageCertainty } from '../../contract/ledger.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { PriceTable } from '../../models/price-table.ts';
import type { RequestBody } from '../request/request-body.ts';
import type { Accounting, AttemptTrace, RequestTrace } from './exchange-trace.ts';

const free: Accounting = { usage: null, usageCertainty: 'none', costUsd: 0 };
const ofUnknownCost: Accounting = { ...free, costUsd: null };

interface AccountingPorts {
  prices: PriceTable;
  /** Recorded for an attempt whose usage is unknown; null if it may stay unknown, because no hard budget applies. */
  reserved: Usage | null;
  /**
   * Recorded for a background response that nobody can fetch, so that its usage stays unknown; null if no limit
   * applies.
   */
  unfetchable: Usage | null;
}

/** Records each attempt's usage and cost, and returns the sum. */
export function accountFor(
  trace: RequestTrace,
  body: RequestBody | undefined,
  { prices, reserved, unfetchable }: AccountingPorts,
): Accounting {
  const { route, attempts, model } = trace;
  const call = body ? callAccounting(trace, body) : null;
  const pricing = { prices, model };
  for (const attempt of attempts) {
    const { record } = attempt;
    note(record, call ? call.account(attempt, prices) : withoutUsage(route, record));
    if (runsInBackground(trace, attempt, body)) note(record, free);
    else if (call && unfetchable && isOrphaned(trace, attempt, body)) {
      note(record, asReserved(record, { usage: unfetchable, asked: call.asked }, pricing));
    } else if (call && reserved && isUncounted(attempt)) {
      note(record, asReserved(record, call.mostOf(attempt, reserved), pricing));
    } else if (call && reserved && isUnpricedAttempt(record)) {
      applyFallback(record, { usage: reserved, asked: call.asked }, pricing);
    }
  }
  return addUp(attempts.map(({ record }) => record));
}

/** Costs a tenth of `Object.assign`. */
function note(record: AttemptRecord, { usage, usageCertainty, costUsd }: Accounting): void {
  record.usage = usage;
  record.usageCertainty = usageCertainty;
  record.costUsd = costUsd;
}

/** Null if the call costs nothing, or its response never reports usage. */
function callAccounting(trace: RequestTrace, body: RequestBody): CallAccounting | null {
  const { route } = trace;
  if (!route || route.isFree || route.wire.operation === 'passthrough') return null;
  const isMaking = route.model !== 'none' || route.job?.behaviour === 'creates-from';
  return isMaking ? new CallAccounting(route.wire.usage, body, trace) : null;
}

/** The cost of a batch, a fine-tuning job or an assistant's run is unknown here. */
function withoutUsage(route: RequestTrace['route'], record: AttemptRecord): Accounting {
  const mayCost =
    route?.wire.operation === 'passthrough' && !route.isFree && (isLost(record) || endingOf(record) !== 'failed');
  return mayCost ? ofUnknownCost : free;
}

const ongoing = new Set<string | null>(['queued', 'in_progress']);

export const isRunningStatus = (status: string | null) => ongoing.has(status);

/** The attempt that may have made a job: the one that answered, or the last one, whose answer was cut after its id. */
export function attemptThatMade({ answering, attempts }: RequestTrace): AttemptTrace | undefined {
  return answering ?? attempts.at(-1);
}

/** Whether the response created a background job, which reports its usage only at its end. */
export function runsInBackground(trace: RequestTrace, attempt: AttemptTrace, body: RequestBody | undefined): boolean {
  const { record, responseStatus } = attempt;
  if (trace.createdJob?.kind !== 'response' || attempt !== attemptThatMade(trace)) return false;
  if (isRunningStatus(responseStatus)) return true;
  return responseStatus === null && record.usageCertainty !== 'reported' && isBackground(trace, body);
}

/** The client disconnected before it received the id of its background response, which continues but cannot be fetched. */
function isOrphaned(
  { route, createdJob }: RequestTrace,
  { record }: AttemptTrace,
  body: RequestBody | undefined,
): boolean {
  if (route?.job?.kind !== 'response' || createdJob || !isBackground({ route }, body)) return false;
  return record.failure === 'client-gone' && record.connectMs !== null;
}

function isBackground({ route }: Pick<RequestTrace, 'route'>, body: RequestBody | undefined): boolean {
  return route !== null && body !== undefined && route.wire.request.isBackground(body);
}

interface Pricing {
  prices: PriceTable;
  /** Overrides the attempt's own model. */
  model: string | null;
}

/** The most that an attempt may have used, and on which terms. */
interface Most {
  usage: Usage;
  asked: AskedTerms | null;
}

/** Priced for the attempt's own target. */
function asReserved(record: AttemptRecord, { usage, asked }: Most, { prices, model }: Pricing): Accounting {
  const name = record.model ?? model;
  const most = name === null ? null : prices.most(record.provider, name, usage, asked);
  return { usage: most?.usage ?? usage, usageCertainty: 'reserved', costUsd: most?.costUsd ?? null };
}

/** Unknown if the attempt's target has no price. */
function applyFallback(record: AttemptRecord, reserved: Most, pricing: Pricing): void {
  const { usage, costUsd, usageCertainty } = asReserved(record, reserved, pricing);
  if (costUsd === null && record.usage !== null) return;
  record.usage ??= usage;
  record.usageCertainty = usageCertainty;
  record.costUsd = costUsd;
}

/**
 * The upstream may have worked, and been paid, beyond what is visible: the answer was cut before the usage of the whole,
 * by whichever side. Not if it refused the request, or was not reached.
 */
function isUncounted({ record, hasEnded, hasFinished, responseType }: AttemptTrace): boolean {
  if (hasEnded || (hasFinished && record.usageCertainty === 'reported' && saysOutput(record.usage))) return false;
  if (record.status === null) return endingOf(record) === 'stopped' || (record.failure === 'silent' && isSent(record));
  return record.status < 300 && answerType.test(responseType);
}

/** Gemini's first events tell the input alone, and the last one may not have come. */
const saysOutput = (usage: Usage | null) => (usage?.outputTokens ?? 0) > 0;
const answerType = boundedPattern(/json|event-stream/i);
const isSent = ({ connectMs }: AttemptRecord) => connectMs !== null;

/** How an attempt ended, as far as it affects cost. */
type Ending =
  /** The upstream answered, completely or in part. */
  | 'whole'
  | 'broken'
  /** The attempt was aborted before the upstream answered. */
  | 'stopped'
  /** The upstream was not reached, refused the request, or did not answer. */
  | 'failed';

function endingOf({ failure, error, status, connectMs }: AttemptRecord): Ending {
  const isStopped = failure === 'client-gone' || (failure === null && error !== null);
  if (status === null) return isStopped && connectMs !== null ? 'stopped' : 'failed';
  if (status >= 400) return 'failed';
  if (failure === null && !isStopped) return 'whole';
  return isStopped || failure === 'stream-broken' ? 'broken' : 'failed';
}

/**
 * An answer of which something came, and not the end: whatever became of it, the upstream worked for it. Its client may have
 * nothing of it, as of the rest of a broken stream that broke off in turn.
 */
function isCutAnswer({ record, excerpt, hasEnded, responseType }: AttemptTrace): boolean {
  const isAnswer = record.status !== null && record.status < 300 && answerType.test(responseType);
  const hasSaid = responseType.includes('event-stream') ? record.firstContentMs !== null : excerpt.totalBytes > 0;
  return isAnswer && !hasEnded && record.failure !== 'lost' && record.failure !== null && hasSaid;
}

/** What the request asked for may have been made and billed. */
const isLost = ({ failure }: AttemptRecord) => failure === 'lost';

type Estimated = Omit<ExtractedUsage, 'status'>;

interface EndedAnswer {
  answer: KeptAnswer;
  ending: Ending;
  /** The upstream's way of reporting usage. */
  format: UsageFormat;
}

/** An estimate is of the whole prompt, of which the provider has read only the earlier parts if the next one failed. */
function withEarlier(known: Estimated, { ending }: EndedAnswer, inputTokens: number): Estimated {
  if (inputTokens === 0) return known;
  if (known.certainty === 'reported')
    return { ...known, usage: { ...known.usage, inputTokens: inputTokens + (known.usage?.inputTokens ?? 0) } };
  return ending === 'failed' ? { usage: { inputTokens }, certainty: 'estimated' } : known;
}

class CallAccounting {
  readonly #format: UsageFormat;
  readonly #body: RequestBody;
  readonly #trace: RequestTrace;
  #prompt: number | null | undefined;

  constructor(format: UsageFormat, body: RequestBody, trace: RequestTrace) {
    this.#format = format;
    this.#body = body;
    this.#trace = trace;
  }

  account(attempt: AttemptTrace, prices: PriceTable): Accounting {
    const { record } = attempt;
    const ending = isCutAnswer(attempt) ? 'broken' : endingOf(record);
    const answer = attempt.excerpt.kept(attempt.responseType);
    const hints = this.#format.hints(this.#body, answer.bytes);
    const format = attempt.usage ?? this.#format;
    const extracted = format.read(answer, ending === 'failed' ? { most: hints.most } : hints);
    attempt.responseStatus = extracted.status;
    if (ending === 'failed' && extracted.certainty !== 'reported' && attempt.earlierPromptTokens === 0)
      return isLost(record) ? ofUnknownCost : free;
    const ended = { answer, ending, format };
    const known = withEarlier(this.#completed(extracted, ended), ended, attempt.earlierPromptTokens);
    const isCut = attempt.hasFinished ? !attempt.hasEnded && !saysOutput(known.usage) : ending === 'broken';
    const isPart = isCut && known.certainty === 'reported';
    const { usage, certainty } = isPart ? this.#atLeast(known, ended) : known;
    // A remix names no model; the model of its video is known.
    const model = record.model ?? this.#trace.model;
    return {
      usage,
      usageCertainty: certainty,
      costUsd: model === null ? null : prices.cost(record.provider, model, usage, format.terms?.(answer)),
    };
  }

  /** Estimates what was not reported, or cannot be true. */
  #completed(extracted: ExtractedUsage, ended: EndedAnswer): Estimated {
    if (extracted.usage === null) return this.#estimate(ended);
    if (extracted.certainty !== 'estimated') return extracted;
    return { usage: { ...this.#estimate(ended).usage, ...extracted.usage }, certainty: 'estimated' };
  }

  /**
   * The usage of the beginning of an answer, such as that of Anthropic's `message_start`, may say less than the text that
   * came after it.
   */
  #atLeast({ usage }: Estimated, ended: EndedAnswer): Estimated {
    const guess = this.#estimate(ended).usage?.outputTokens ?? 0;
    const { outputTokens = 0 } = usage ?? {};
    if (guess <= outputTokens) return { usage, certainty: 'partial' };
    return { usage: { ...usage, outputTokens: guess }, certainty: 'estimated' };
  }

  /** The terms that the request allows. An account's own choice of the tier is the usual one, unless the answer says otherwise. */
  get asked(): AskedTerms | null {
    const asked = this.#trace.route?.wire.usage.asks?.(this.#body) ?? null;
    return asked && { ...asked, isTierOpen: false };
  }

  /** The most that a cut attempt may have used: the input that it told of, else the estimate, and all of its output. */
  mostOf(attempt: AttemptTrace, reserved: Usage): Most {
    const { inputTokens: mostInput, outputTokens: mostOutput } = reserved;
    const { asked } = this;
    if (mostInput === undefined || mostOutput === undefined) return { usage: reserved, asked };
    const format = attempt.usage ?? this.#format;
    const answer = attempt.excerpt.kept(attempt.responseType);
    const told = format.read(answer, { most: this.#format.hints(this.#body, answer.bytes).most });
    const { outputTokens = 0, ...input } = told.certainty === 'reported' ? (told.usage ?? {}) : {};
    // What the request only refers to is in no estimate, but in the reservation.
    const hasReferredInput = mostInput > this.#body.size || referredIn(this.#body.captured).ids.length > 0;
    const guess = hasReferredInput ? mostInput : this.#guessedPrompt(mostInput);
    const usage = {
      ...reserved,
      ...input,
      inputTokens: input.inputTokens || guess,
      outputTokens: Math.max(mostOutput, outputTokens),
    };
    const tier = format.terms?.(answer)?.tier ?? asked?.tier ?? null;
    return { usage, asked: asked && { ...asked, tier, ...(input.inputTokens && { isInputTold: true }) } };
  }

  #guessedPrompt(mostTokens: number): number {
    const { text } = this.#format;
    return Math.min((text && this.#promptTokens(text)) ?? mostTokens, mostTokens);
  }

  /** Only if both the request and the answer are text. */
  #estimate({ answer, ending, format }: EndedAnswer): Estimated {
    const noUsage: Estimated = { usage: null, certainty: 'none' };
    const { text } = this.#format;
    if (text === null || format.text === null) return noUsage;
    // An attempt that was stopped before the upstream answered has used its prompt. Unless it was for a stream, the upstream
    // may already have produced output, of unknown length.
    const isSilent = ending === 'stopped';
    const output = isSilent && this.#trace.stream ? 0 : isSilent ? undefined : format.text.ofAnswer(answer);
    if (output === null) return noUsage;
    const input = this.#promptTokens(text);
    if (input === null && !output) return noUsage;
    const usage: Usage = {
      ...(input !== null && { inputTokens: input }),
      ...(output !== undefined && !text.isOnlyPrompt && { outputTokens: output }),
    };
    return { usage, certainty: 'estimated' };
  }

  #promptTokens(text: TextEstimates): number | null {
    if (this.#prompt === undefined) this.#prompt = this.#body.captured ? text.ofPrompt(this.#body.captured) : null;
    return this.#prompt;
  }
}

/** For a request without attempts. */
const nothing: Accounting = { usage: null, usageCertainty: 'none', costUsd: 0 };

/**
 * The sum is as certain as its least certain part. Its cost is the sum of the known costs, or unknown if there are
 * none.
 */
export function addUp(parts: readonly Accounting[]): Accounting {
  const [first = nothing, ...others] = parts;
  if (others.length === 0) return { usage: first.usage, usageCertainty: first.usageCertainty, costUsd: first.costUsd };
  return { usage: usageOf(parts), usageCertainty: certaintyOf(parts), costUsd: costOf(parts) };
}

/** A failed attempt costs nothing, but that alone does not make the total known. */
function costOf(parts: readonly Accounting[]): number | null {
  const knownCost = parts.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return knownCost === 0 && parts.some(({ costUsd }) => costUsd === null) ? null : knownCost;
}

function usageOf(parts: readonly Accounting[]): Usage | null {
  let sum: Usage | null = null;
  for (const { usage } of parts) {
    if (usage !== null) sum = sum === null ? usage : sumOf(sum, usage);
  }
  return sum;
}

function sumOf(one: Usage, other: Usage): Usage {
  const sum: Usage = { ...one };
  for (const name of quantities) {
    const amount = other[name];
    if (amount !== undefined) sum[name] = (sum[name] ?? 0) + amount;
  }
  return sum;
}

/** A part of unknown usage that may have cost something makes the sum `partial`. */
function certaintyOf(parts: readonly Accounting[]): UsageCertainty {
  const certainties = parts.filter(({ usage }) => usage !== null).map(({ usageCertainty }) => usageCertainty);
  if (certainties.length === 0) return 'none';
  if (certainties.includes('reserved')) return 'reserved';
  if (certainties.includes('estimated')) return 'estimated';
  const isLacking = parts.some(({ usage, costUsd }) => usage === null && costUsd === null);
  return isLacking || certainties.includes('partial') ? 'partial' : 'reported';
}

const each: Record<keyof Usage, true> = {
  inputTokens: true,
  outputTokens: true,
  cachedInputTokens: true,
  cacheWriteTokens: true,
  cacheWriteOneHourTokens: true,
  reasoningTokens: true,
  audioInputTokens: true,
  audioOutputTokens: true,
  imageInputTokens: true,
  imageOutputTokens: true,
  seconds: true,
  characters: true,
  images: true,
};
const quantities = Object.keys(each) as (keyof Usage)[];
