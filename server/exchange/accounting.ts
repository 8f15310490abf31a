/**
 * What each attempt of a request used and cost: read off the end of its reply, estimated where that says nothing. Runs once,
 * when the request is over.
 */
import type { Capability } from '../contract/capability.ts';
import type { AttemptRecord, Usage } from '../contract/ledger.ts';
import type { IncomingBody } from '../http/body/incoming-body.ts';
import { maxTextBytes } from '../http/request/json-body.ts';
import { type Accounting, addUp } from '../usage/add-up.ts';
import { estimatePrompt } from '../usage/estimate-prompt.ts';
import { estimateReply } from '../usage/estimate-reply.ts';
import { type ExtractedUsage, extractUsage, type UsageHints } from '../usage/extract.ts';
import type { AttemptTrace, RequestTrace } from './exchange-trace.ts';

/** US dollars, or null where no price is known. Some prices are by the request, so they hold without a usage too. */
export type PriceOf = (provider: string, model: string, usage: Usage | null) => number | null;

const free: Accounting = { usage: null, usageCertainty: 'none', costUsd: 0 };

/** Notes with each attempt what it used and cost, and returns the sum. */
export function accountFor(trace: RequestTrace, body: IncomingBody | undefined, priceOf: PriceOf): Accounting {
  const { route, attempts } = trace;
  const isMaking = route && !route.isFree && (route.model !== 'none' || route.job?.behaviour === 'creates-from');
  const call = isMaking && body ? new CallAccounting(route.capability, body, trace) : null;
  for (const attempt of attempts) Object.assign(attempt.record, call ? call.account(attempt, priceOf) : free);
  return addUp(attempts.map(({ record }) => record));
}

/** How an attempt ended, as far as it matters for its cost. */
type Ending =
  /** The upstream answered, with an end or without. */
  | 'whole'
  | 'broken'
  /** It was asked, and stopped before it answered. */
  | 'stopped'
  /** It never got the request, or refused it, or did not answer. */
  | 'failed';

function endingOf({ failure, error, status, connectMs }: AttemptRecord): Ending {
  const isStopped = failure === 'client-gone' || (failure === null && error !== null);
  if (status === null) return isStopped && connectMs !== null ? 'stopped' : 'failed';
  if (status >= 400) return 'failed';
  if (failure === null && !isStopped) return 'whole';
  return isStopped || failure === 'stream-broken' ? 'broken' : 'failed';
}

class CallAccounting {
  readonly #capability: Capability;
  readonly #body: IncomingBody;
  readonly #trace: RequestTrace;
  #prompt: number | null | undefined;

  constructor(capability: Capability, body: IncomingBody, trace: RequestTrace) {
    this.#capability = capability;
    this.#body = body;
    this.#trace = trace;
  }

  account(attempt: AttemptTrace, priceOf: PriceOf): Accounting {
    const { record, tail, replyType } = attempt;
    const ending = endingOf(record);
    const told = extractUsage(this.#capability, tail.bytes, replyType, ending === 'failed' ? {} : this.#hints());
    if (ending === 'failed' && told.certainty !== 'reported') return free;
    const { usage, certainty } = told.usage === null ? this.#estimate(attempt, ending) : told;
    const isPart = ending === 'broken' && certainty === 'reported';
    // A remix names no model; that of its video is known.
    const model = record.model ?? this.#trace.model;
    return {
      usage,
      usageCertainty: isPart ? 'partial' : certainty,
      costUsd: model === null ? null : priceOf(record.provider, model, usage),
    };
  }

  /** Only of what is text on both sides. */
  #estimate({ tail, replyType }: AttemptTrace, ending: Ending): ExtractedUsage {
    const none: ExtractedUsage = { usage: null, certainty: 'none' };
    if (!estimated.has(this.#capability)) return none;
    // What was stopped before it answered has used its prompt; had it no stream, it may have been at work for long.
    const isSilent = ending === 'stopped';
    const output = isSilent && this.#trace.stream ? 0 : isSilent ? undefined : this.#outputOf(tail, replyType);
    if (output === null) return none;
    const input = this.#promptTokens();
    if (input === null && !output) return none;
    const usage: Usage = {
      ...(input !== null && { inputTokens: input }),
      ...(output !== undefined && this.#capability !== 'embeddings' && { outputTokens: output }),
    };
    return { usage, certainty: 'estimated' };
  }

  #outputOf(tail: AttemptTrace['tail'], contentType: string): number | null {
    return estimateReply({ tail: tail.bytes, bytes: tail.totalBytes, contentType });
  }

  #promptTokens(): number | null {
    if (this.#prompt === undefined) this.#prompt = this.#body.captured ? estimatePrompt(this.#body.captured) : null;
    return this.#prompt;
  }

  /** What only the request says, for replies that carry no usage. */
  #hints(): UsageHints {
    switch (this.#capability) {
      case 'speech': {
        const input = this.#body.field('input');
        if (typeof input === 'string') return { inputCharacters: countCharacters(input) };
        const { length = 0 } = this.#body.raw('input')?.bytes ?? {};
        return length > maxTextBytes ? { inputCharacters: length } : {};
      }
      case 'videos':
        return quantityHint('seconds', this.#body.field('seconds'));
      case 'images':
        return quantityHint('images', this.#body.field('n') ?? 1);
      default:
        return {};
    }
  }
}

/** As people count them; a list of them would be many times as long. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const estimated: ReadonlySet<Capability> = new Set(['chat', 'completions', 'responses', 'embeddings']);

function quantityHint(name: 'seconds' | 'images', value: unknown): UsageHints {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? { [name]: number } : {};
}
