import { isPurchase } from '../../apis/core/route.ts';
import type { ShadowSkip } from '../../contract/shadow.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import type { RequestBody } from '../request/request-body.ts';
import { maxShadowedBytes } from './shadow-body.ts';

/** Why an ended request gets no shadow, judged without parsing its body; null if it may get one. */
export function shadowSkipReason(trace: RequestTrace, body: RequestBody | undefined): ShadowSkip | null {
  const { response, answering, cached, fault, route } = trace;
  const isFromProvider = answering !== undefined && cached?.result !== 'hit' && cached?.result !== 'shared';
  const isWhole = response.outcome === 'ok' && answering?.record.failure === null && fault === null;
  if (!body || !route || !isFromProvider || !isWhole) return 'not-answered';
  if (body.captured === null || body.size > maxShadowedBytes) return 'body';
  const { previousResponseId } = body.fields;
  const isElsewhere = previousResponseId !== null || body.raw('conversation') !== null;
  return isElsewhere || isPurchase(route, body) ? 'side-effects' : null;
}
