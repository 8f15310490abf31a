/** The phases of a request, for the timeline. Pure. All times are in milliseconds from the start of the request. */
import type { CapturedExchange, EventFlow } from '../../../../server/contract/capture.ts';
import type { CapturedBody, RequestView } from '../../../../server/contract/request-views.ts';
import type { Messages } from '../../../messages/en/en.ts';

type PhaseName = keyof Messages['requests']['phases'];

interface Phase {
  name: PhaseName;
  /** The attempt it belongs to, from 1; null if there was at most one. */
  attempt: number | null;
  fromMs: number;
  toMs: number;
}

/** Shorter phases would be shown as 0 ms. */
const shortestMs = 0.5;

/**
 * The queue, then for each attempt the pause before it, the connection, the waits for the first byte and the first
 * content, and the transfer.
 */
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
    // Known only in whole milliseconds, so it may seem to be before the end of the queue.
    const beginMs = Math.max(attempt.startedAt - startedAt, queueMs ?? 0);
    const { connectMs, firstByteMs, firstContentMs } = attempt;
    const endMs = beginMs + (attempt.totalMs ?? Math.max(0, (totalMs ?? 0) - beginMs));
    // An attempt made in parallel, such as a hedge, was not preceded by a pause.
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

/** How the events of an attempt's stream arrived. */
interface LaneFlow {
  stepMs: number;
  steps: { fromMs: number; events: number }[];
  /** Times without an event that are longer than others. */
  gaps: { fromMs: number; toMs: number }[];
}

/** What is drawn on one line: an attempt with the pause before it, or the queue before several. */
interface Lane {
  /** As in its phases. */
  attempt: number | null;
  /** Null for the queue. */
  provider: string | null;
  phases: Phase[];
  /** Null if it was not told, or nothing came. */
  firstContentMs: number | null;
  /** Null if it was not captured, or all events came at once. */
  flow: LaneFlow | null;
}

/** So many steps without an event, one after the other, are a gap. */
const leastGapSteps = 5;

/** The attempts, one below the other. `captured`: what was kept of them. */
export function lanesOf(request: RequestView, captured: CapturedExchange<CapturedBody> | null): Lane[] {
  const phases = phasesOf(request);
  const { attempts, startedAt, queueMs } = request;
  const isAlone = attempts.length < 2;
  const lanes = attempts.map((attempt, index): Lane => {
    const number = isAlone ? null : index + 1;
    const beginMs = Math.max(attempt.startedAt - startedAt, queueMs ?? 0);
    const { firstContentMs, firstByteMs } = attempt;
    const flow = captured?.attempts[index]?.response.flow;
    return {
      attempt: number,
      provider: attempt.provider,
      phases: phases.filter((phase) => phase.attempt === number),
      firstContentMs: firstContentMs === null ? null : beginMs + firstContentMs,
      flow: flow && firstByteMs !== null ? laneFlow(flow, beginMs + firstByteMs) : null,
    };
  });
  const queue = phases.filter(({ attempt }) => attempt === null);
  if (lanes.length > 0 && (isAlone || queue.length === 0)) return lanes;
  return [{ attempt: null, provider: null, phases: queue, firstContentMs: null, flow: null }, ...lanes];
}

function laneFlow({ stepMs, events }: EventFlow, beginMs: number): LaneFlow {
  const steps = events.map((count, index) => ({ fromMs: beginMs + index * stepMs, events: count }));
  const gaps: LaneFlow['gaps'] = [];
  let lastMs = beginMs;
  for (const { fromMs, events: count } of steps) {
    if (count === 0) continue;
    if (fromMs - lastMs >= leastGapSteps * stepMs) gaps.push({ fromMs: lastMs, toMs: fromMs });
    lastMs = fromMs + stepMs;
  }
  return { stepMs, steps, gaps };
}

const mostTicks = 6;

/** Moments for the axis of a request that takes so long: round numbers from 0, at most 6, none beyond its end. */
export function ticksOf(wholeMs: number): number[] {
  const least = wholeMs / (mostTicks - 1);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= least) ?? least;
  return Array.from({ length: Math.floor(wholeMs / step) + 1 }, (_, index) => index * step);
}

/** The longest pause within an answer; null if it was not measured, or no answer arrived in more than one piece. */
export function longestGapOf({ attempts }: Pick<RequestView, 'attempts'>): number | null {
  const gaps = attempts.flatMap(({ longestGapMs }) => longestGapMs ?? []);
  return gaps.length > 0 ? Math.max(...gaps) : null;
}
