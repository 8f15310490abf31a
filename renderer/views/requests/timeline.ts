/** When what happened in a request, for its picture. Pure; all in milliseconds from its beginning. */
import type { RequestView } from '../../../server/contract/views.ts';
import type { Messages } from '../../messages/en.ts';

export type PhaseName = keyof Messages['requests']['phases'];

export interface Phase {
  name: PhaseName;
  fromMs: number;
  toMs: number;
}

/** Of each attempt the connection, the wait for the first byte and what came after it; before the first one, the queue. */
export function phasesOf({ startedAt, queueMs, totalMs, attempts }: RequestView): Phase[] {
  const phases: Phase[] = [];
  const add = (name: PhaseName, fromMs: number, toMs: number | null) => {
    if (toMs !== null && toMs > fromMs) phases.push({ name, fromMs, toMs });
  };
  add('queue', 0, queueMs);
  for (const attempt of attempts) {
    // It is known in whole milliseconds only, and may seem to begin before the queue was left.
    const beginMs = Math.max(attempt.startedAt - startedAt, queueMs ?? 0);
    const { connectMs, firstByteMs } = attempt;
    const endMs = beginMs + (attempt.totalMs ?? Math.max(0, (totalMs ?? 0) - beginMs));
    const connectedMs = beginMs + (connectMs ?? 0);
    add('connect', beginMs, connectedMs);
    add('wait', connectedMs, firstByteMs === null ? endMs : beginMs + firstByteMs);
    if (firstByteMs !== null) add('transfer', beginMs + firstByteMs, endMs);
  }
  return phases;
}
