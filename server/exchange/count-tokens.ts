/** How many tokens a request has: the provider is asked where it speaks the client's API, and Sluice estimates it elsewhere. */
import type { ServerResponse } from 'node:http';
import { pattern } from '../bounded-pattern.ts';
import type { LastWord } from '../routing/attempt-result.ts';
import { countTokens } from '../translate/count-tokens.ts';
import { isWireName } from '../translate/wire-translations.ts';
import type { Route } from '../wire/route.ts';
import type { CallPlan } from './plan.ts';
import type { RequestBody } from './request-body.ts';

/**
 * The plan with the first of its targets that can count; null where none can, and for routes that count nothing. Others are
 * not asked after it: what they would say is of another model.
 */
export function countingPlan(plan: CallPlan, { wire, writeTokenCount }: Route): CallPlan | null {
  const counting = writeTokenCount && plan.targets.find(({ provider }) => provider.dialect.serves(wire.name));
  return counting ? { ...plan, targets: [counting] } : null;
}

/**
 * The answer of a route that counts tokens, which a header marks as estimated; null for every other route.
 * @throws GatewayError `malformed_json` or `invalid_value` where the body is no request of its API
 */
export function tokenCount(
  response: ServerResponse,
  { wire, writeTokenCount }: Route,
  body: RequestBody,
): object | null {
  if (!writeTokenCount || !body.captured || !isWireName(wire.name)) return null;
  const count = writeTokenCount(countTokens(wire.name, body.captured));
  response.setHeader('x-sluice-estimated', Object.keys(count).join(', '));
  return count;
}

const modelWord = pattern(/\bmodels?\b/i);

/**
 * Whether an estimate serves the client better than why the provider has not counted. A request that is wrong, an unknown
 * model and a refused credential stay errors (BerriAI/litellm#38902); services that have Anthropic's Messages alone answer the
 * path with 404 or 405.
 */
export function mayBeEstimated(word: LastWord): boolean {
  if (word.kind === 'error') return word.error.kind.status >= 500 && !accountCodes.has(word.error.code);
  const { status, error } = word.answer;
  if (status === 404) return !error || !modelWord.test(error.message.slice(0, maxReadLength));
  return status === 405 || status === 429 || status >= 500;
}

const maxReadLength = 1024;
const accountCodes = new Set(['provider_credential_refused', 'provider_quota_exhausted']);
