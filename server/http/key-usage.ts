/** `GET /v1/usage`: a key's own limits and usage. */

import type { ServerResponse } from 'node:http';
import { localCalendar } from '../contract/calendar.ts';
import { GatewayError } from '../contract/errors.ts';
import type { UsageTotals } from '../contract/ledger.ts';
import type { Limited, LimitMeter } from '../contract/limits.ts';
import type { UsageView } from '../contract/request-views.ts';
import { type LocalReply, sendJson } from '../exchange/answer/local-reply.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { CompiledGroup, CompiledKey } from '../routing/snapshot.ts';
import type { UsageQuery } from '../store/rules/usage-query.ts';

interface KeyUsagePorts {
  limiter: Limiter;
  summarizeUsage(question: UsageQuery): Promise<UsageView[]>;
}

interface KeyUsageRequest {
  key: CompiledKey;
  group: CompiledGroup;
  method: string;
  requestId: string;
  nowMs: number;
}

export async function sendKeyUsage(
  ports: KeyUsagePorts,
  response: ServerResponse,
  { key, group, method, requestId, nowMs }: KeyUsageRequest,
): Promise<LocalReply> {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new GatewayError('method_not_allowed', `Not allowed to ${method} on /v1/usage. Allowed: GET.`);
  }
  const subjects = [key.limited, group.limited].filter((limited) => limited !== null);
  await ports.limiter.refresh(subjects);
  const limits = subjects.flatMap((limited) => ports.limiter.meters(limited).map((meter) => limitOf(limited, meter)));
  const [today, month] = await Promise.all([
    usageIn(ports, key.id, 'day', nowMs),
    usageIn(ports, key.id, 'month', nowMs),
  ]);
  response.setHeader('cache-control', 'no-store');
  return sendJson(
    response,
    { object: 'usage', key: key.id, name: key.name, group: group.id, limits, today, month },
    requestId,
  );
}

const names = {
  requests: 'requests_per_minute',
  tokens: 'tokens_per_minute',
  concurrent: 'concurrent',
  budget: 'budget',
};

function limitOf({ scope, id }: Limited, { kind, budget, amount, used, resetsAt }: LimitMeter) {
  return {
    object: 'limit',
    of: scope,
    id,
    limit: names[kind],
    ...(budget && { unit: budget.unit, per: budget.per, hard: budget.hard }),
    amount,
    used,
    remaining: Math.max(0, amount - used),
    resets_at: unixSeconds(resetsAt),
  };
}

async function usageIn(ports: KeyUsagePorts, keyId: string, per: 'day' | 'month', nowMs: number) {
  const { startMs } = localCalendar().periodOf(per, nowMs);
  const [totals]: UsageTotals[] = await ports.summarizeUsage({ by: 'key', names: [keyId], sinceMs: startMs });
  return {
    since: unixSeconds(startMs),
    requests: totals?.requests ?? 0,
    input_tokens: totals?.inputTokens ?? 0,
    output_tokens: totals?.outputTokens ?? 0,
    // Null: no cost is known.
    cost_usd: totals ? totals.costUsd : 0,
    /** Requests of unknown cost. */
    unpriced_requests: totals?.unpricedRequests ?? 0,
  };
}

/** Unix seconds, as in OpenAI's API. */
function unixSeconds(atMs: number | null): number | null {
  return atMs === null ? null : Math.ceil(atMs / 1_000);
}
