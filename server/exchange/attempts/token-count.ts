/** Counts a request's tokens: a provider whose API can count them is asked; otherwise Sluice estimates the number. */
import type { ServerResponse } from 'node:http';
import type { Route } from '../../apis/core/api.ts';
import { isWireName } from '../../apis/translation/translation-registry.ts';
import { estimateRequestTokens } from '../../apis/translation/translator.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { FailureResponse } from '../../routing/attempt-result.ts';
import type { Target } from '../../routing/snapshot.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';
import { countingWireOf } from '../translation/request-translation.ts';

/**
 * The plan with the first target that can count tokens; null if none can, and for routes that do not count. No other target
 * is asked after it, because it would count for a different model.
 */
export function tokenCountPlan(plan: CallPlan, { wire, writeTokenCount }: Route): CallPlan | null {
  const counting = writeTokenCount && plan.targets.find((target) => countsFor(target, wire.name, plan.model));
  return counting ? { ...plan, targets: [counting] } : null;
}

function countsFor(target: Target, wire: string, modelName: string | null): boolean {
  const { dialect, servedWires } = target.provider;
  if (dialect.serves(wire) && (servedWires === null || servedWires.includes(wire))) return true;
  return isWireName(wire) && countingWireOf(target, wire, modelName) !== null;
}

/**
 * The answer of a route that counts tokens; null for every other route. Sets a header that marks the numbers as estimated.
 * @throws GatewayError `malformed_json` or `invalid_value` if the body is not a request of the route's API
 */
export function estimatedTokenCount(
  response: ServerResponse,
  { wire, writeTokenCount }: Route,
  body: RequestBody,
): object | null {
  if (!writeTokenCount || !body.captured || !isWireName(wire.name)) return null;
  const count = writeTokenCount(estimateRequestTokens(wire.name, body.captured));
  const estimated = Object.entries(count).filter(([, value]) => typeof value === 'number');
  response.setHeader('x-sluice-estimated', estimated.map(([name]) => name).join(', '));
  return count;
}

const modelWord = boundedPattern(/\bmodels?\b/i);

/** Returns the estimate for the client if the provider could not count; null if the failure is more informative. */
export function estimateOnFailure(
  failureResponse: FailureResponse,
  response: ServerResponse,
  { match, body }: OutgoingCall,
): object | null {
  return mayBeEstimated(failureResponse) ? estimatedTokenCount(response, match.route, body) : null;
}

/**
 * Whether an estimate helps the client more than the provider's failure to count. Invalid requests, unknown models and refused
 * credentials remain errors (BerriAI/litellm#38902). Services that have only Anthropic's Messages answer 404 or 405 on this path.
 */
function mayBeEstimated(failureResponse: FailureResponse): boolean {
  if (failureResponse.kind === 'error')
    return failureResponse.error.kind.status >= 500 && !accountCodes.has(failureResponse.error.code);
  const { status, error } = failureResponse.answer;
  if (error && unsupportedCountMessages.test(error.message.slice(0, maxReadLength))) return true;
  if (status === 404) return !error || !modelWord.test(error.message.slice(0, maxReadLength));
  return status === 405 || status === 429 || status >= 500;
}

/**
 * Messages of clouds that count tokens only for some models, regions, contents or accounts: "The provided model doesn't
 * support counting tokens", "Document input not supported for token counting" (aws/aws-sdk-java-v2#6370), "… is not
 * authorized to perform: bedrock:CountTokens", "Publisher Model `…/models/count-tokens` was not found".
 */
const unsupportedCountMessages = boundedPattern(/counting tokens|token counting|:CountTokens|\/count-tokens/);
const maxReadLength = 1024;
const accountCodes = new Set(['provider_credential_refused', 'provider_quota_exhausted']);
