import type { RequestRecord, Usage } from '../contract/ledger.ts';
import { extractUsage, type UsageHints } from '../usage/extract.ts';
import type { IncomingBody } from './outgoing-body.ts';
import type { RequestTrace } from './request-trace.ts';

/** US dollars, or null where no price is known. Some prices are by the request, so they hold without a usage too. */
export type PriceOf = (provider: string, model: string, usage: Usage | null) => number | null;

type Accounting = Pick<RequestRecord, 'usage' | 'usageCertainty' | 'costUsd'>;

const nothing: Accounting = { usage: null, usageCertainty: 'none', costUsd: null };

/** What a request used and cost, read off the end of its reply. Only an answer that succeeded counts. */
export function accountFor(trace: RequestTrace, body: IncomingBody | undefined, priceOf: PriceOf): Accounting {
  const last = trace.attempts.at(-1);
  const { route } = trace;
  if (!route || !body || !last || last.status === null || last.status >= 400) return nothing;
  if (route.model === 'none' && route.job?.behaviour !== 'creates-from') return nothing;
  const { usage, certainty } = extractUsage(
    route.capability,
    trace.tail.bytes,
    trace.reply.replyType,
    hints(trace, body),
  );
  const isPartial = trace.reply.outcome !== 'ok' && certainty === 'reported';
  // A remix names no model; that of its video is known.
  const model = last.model ?? trace.model;
  return {
    usage,
    usageCertainty: isPartial ? 'partial' : certainty,
    costUsd: model ? priceOf(last.provider, model, usage) : null,
  };
}

/** What only the request says, for replies that carry no usage. */
function hints(trace: RequestTrace, body: IncomingBody): UsageHints {
  switch (trace.route?.capability) {
    case 'speech': {
      const input = body.field('input');
      return typeof input === 'string' ? { inputCharacters: [...input].length } : {};
    }
    case 'videos':
      return quantity('seconds', body.field('seconds'));
    case 'images':
      return quantity('images', body.field('n') ?? 1);
    default:
      return {};
  }
}

function quantity(name: 'seconds' | 'images', value: unknown): UsageHints {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? { [name]: number } : {};
}
