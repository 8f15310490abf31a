import { createHash } from 'node:crypto';
import { sessionHeaders } from '../../apis/core/requests/client-session.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';

/**
 * Equal for requests that every provider must answer alike: operation, requested model, targets, forwarded headers, and
 * the body byte for byte. The order of a JSON object's members counts, since models follow that of a schema.
 *
 * `lossy`: the request's `x-sluice-lossy`.
 */
export function requestKey(plan: CallPlan, call: OutgoingCall, lossy: string | string[] | undefined): string {
  const { match, group, body, headers, path, query } = call;
  const targets = plan.targets.map(({ provider, model }) => [provider.id, provider.endpoint, provider.headers, model]);
  const headerNames = Object.keys(headers).filter(decidesAnswer).sort();
  const metadata = JSON.stringify([
    match.route.method,
    match.route.wire.name,
    path,
    query,
    plan.model,
    targets,
    [group.policy.losses, lossy ?? null],
    headerNames.map((name) => [name, headers[name]]),
  ]);
  const hash = createHash('sha256').update(`${metadata.length}\n${metadata}\n`);
  return hash.update(body.captured ?? '').digest('base64');
}

/** Headers that identify the client, its session or its attempt, and do not affect the answer. */
const idle: ReadonlySet<string> = new Set([
  'user-agent',
  'x-title',
  'http-referer',
  'date',
  'cache-control',
  'pragma',
  'cookie',
  'priority',
  'traceparent',
  'tracestate',
  'baggage',
  'idempotency-key',
  'x-request-id',
  'x-client-request-id',
  'x-app',
  'originator',
  ...sessionHeaders,
]);
const idlePrefix = 'x-stainless-';

function decidesAnswer(name: string): boolean {
  return !idle.has(name) && !name.startsWith(idlePrefix);
}
