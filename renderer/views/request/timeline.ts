/** When what happened in a request, for its picture. Pure; all in milliseconds from its beginning. */
import type { RequestView } from '../../../server/contract/request-views.ts';
import type { Messages } from '../../messages/en.ts';

type PhaseName = keyof Messages['requests']['phases'];

interface Phase {
  name: PhaseName;
  /** Which attempt it belongs to, from 1 on; null where there was one at most. */
  attempt: number | null;
  fromMs: number;
  toMs: number;
}

/** What is shorter would read as 0 ms. */
const shortestMs = 0.5;

/** Of each attempt the pause before it, the connection, the waits for the first byte and the first content, and the rest; before all, the queue. */
export function phasesOf({ startedAt, queueMs, totalMs, attempts }: RequestView): Phase[] {
  const phases: Phase[] = [];
  let number: number | null = null;
  const add = (name: PhaseName, fromMs: number, toMs: number | null) => {
    if (toMs !== null && toMs - fromMs >= shortestMs) phases.push({ name, attempt: number, fromMs, toMs });
  };
  add('queue', 0, queueMs);
  let overMs: number | null = null;
  for (const [index, attempt] of attempts.entries()) {
    number = attempts.length > 1 ? index + 1 : null;
    // It is known in whole milliseconds only, and may seem to begin before the queue was left.
    const beginMs = Math.max(attempt.startedAt - startedAt, queueMs ?? 0);
    const { connectMs, firstByteMs, firstContentMs } = attempt;
    const endMs = beginMs + (attempt.totalMs ?? Math.max(0, (totalMs ?? 0) - beginMs));
    // What was asked beside another one waited for nobody.
    if (attempt.cause === 'retry' || attempt.cause === 'fallback') add('pause', overMs ?? beginMs, beginMs);
    overMs = endMs;
    const connectedMs = beginMs + (connectMs ?? 0);
    add('connect', beginMs, connectedMs);
    add('wait', connectedMs, firstByteMs === null ? endMs : beginMs + firstByteMs);
    if (firstByteMs === null) continue;
    const transferMs = Math.max(firstByteMs, firstContentMs ?? firstByteMs);
    add('content', beginMs + firstByteMs, beginMs + transferMs);
    add('transfer', beginMs + transferMs, endMs);
  }
  return phases;
}

/** The longest silence within a reply; null where no reply had a second piece, or it was not measured. */
export function longestGapOf({ attempts }: Pick<RequestView, 'attempts'>): number | null {
  const gaps = attempts.flatMap(({ longestGapMs }) => longestGapMs ?? []);
  return gaps.length > 0 ? Math.max(...gaps) : null;
}
