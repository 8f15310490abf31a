/** Estimates what a request will use before it is sent. */
import type { Capability } from '../../../contract/capability.ts';
import type { Usage } from '../../../contract/ledger.ts';
import { numberOf } from '../../core/number-of.ts';
import { likelyPromptTokens } from '../../core/usage/prompt-estimate.ts';
import type { MeasuredRequest } from '../../core/wire.ts';
import { outputLimitOf } from './output-limit.ts';
import type { UsageField } from './usage-fields.ts';

/** Clients often allow far more than they get. */
const maxOutputTokens = 4_096;
const unstatedOutputTokens = 512;

/** `answers`: the number that may be billed. */
export function likelyUsage(operation: Capability, body: MeasuredRequest<UsageField>, answers: number): Usage {
  switch (operation) {
    case 'chat':
    case 'completions':
    case 'responses':
      return { inputTokens: likelyPromptTokens(body), outputTokens: outputTokens(operation, body) * answers };
    case 'embeddings':
      return { inputTokens: likelyPromptTokens(body), outputTokens: 0 };
    case 'images':
      return { images: answers };
    case 'videos':
      return { seconds: requestedSeconds(body.field('seconds')) };
    case 'speech':
      return { characters: body.size };
    default:
      return {};
  }
}

function outputTokens(operation: Capability, body: MeasuredRequest<UsageField>): number {
  return Math.min(outputLimitOf(operation, body) ?? unstatedOutputTokens, maxOutputTokens);
}

function requestedSeconds(value: unknown): number {
  const seconds = numberOf(value ?? 1);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1;
}
