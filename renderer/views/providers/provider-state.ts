import { useMemo } from 'react';
import type { ProviderView } from '../../../server/contract/provider-views.ts';
import type { UsageStepView } from '../../../server/contract/request-views.ts';
import { hourMs } from '../../../server/contract/units.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useQuery } from '../../state/control/use-query.ts';
import type { LiveRequest } from '../../state/requests/live-request.ts';
import { useNow } from '../../state/window/use-now.ts';

/** Whether a person has to replace a credential, whatever else the provider can do. */
export function hasRefusedCredential({ enabled, credentials }: ProviderView): boolean {
  return enabled && credentials.some((each) => each.enabled && each.health.failure === 'credential');
}

const hours = 24;
const refreshMs = 5_000;
/** The request that ended last is assumed to be among this many of the live list. */
const sampleSize = 20;

export interface ProviderActivity {
  /** One entry per hour, oldest first. */
  hours: readonly { startMs: number; requests: number; failed: number }[];
  requests: number;
  failed: number;
  /** Null if the cost of no request is known. */
  costUsd: number | null;
}

/** The activity of each provider in the last 24 hours, by id; null until known. */
export function useProviderActivity(): ReadonlyMap<string, ProviderActivity> | null {
  const untilMs = useNow((now) => Math.ceil(now / hourMs) * hourMs);
  // Queried again when more requests have ended, but only every few seconds.
  const lastEnd = useControlState(({ requests }) => Math.floor(lastEndOf(requests) / refreshMs));
  const sinceMs = untilMs - hours * hourMs;
  const { answer } = useQuery<'usage-over-time'>(
    { type: 'usage-over-time', by: 'provider', sinceMs, untilMs, stepMs: hourMs },
    lastEnd,
  );
  return useMemo(() => answer && activityOf(answer, sinceMs), [answer, sinceMs]);
}

/** Null if there were no requests; undefined while unknown. */
export function activityIn(
  activities: ReadonlyMap<string, ProviderActivity> | null,
  id: string,
): ProviderActivity | null | undefined {
  return activities === null ? undefined : (activities.get(id) ?? null);
}

function lastEndOf(requests: readonly LiveRequest[]): number {
  return requests
    .slice(0, sampleSize)
    .reduce((last, { startedAt, totalMs }) => (totalMs === null ? last : Math.max(last, startedAt + totalMs)), 0);
}

export function activityOf(steps: readonly UsageStepView[], sinceMs: number): Map<string, ProviderActivity> {
  const namedSteps = steps.flatMap((step) => (step.name === null ? [] : [{ ...step, name: step.name }]));
  const byProvider = Map.groupBy(namedSteps, ({ name }) => name);
  return new Map([...byProvider].map(([id, providerSteps]) => [id, sumOf(providerSteps, sinceMs)]));
}

function sumOf(steps: readonly UsageStepView[], sinceMs: number): ProviderActivity {
  const byStart = new Map(steps.map((step) => [step.startMs, step]));
  const bars = Array.from({ length: hours }, (_, index) => {
    const startMs = sinceMs + index * hourMs;
    const { requests = 0, failed = 0 } = byStart.get(startMs) ?? {};
    return { startMs, requests, failed };
  });
  const costs = steps.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  return {
    hours: bars,
    requests: bars.reduce((sum, { requests }) => sum + requests, 0),
    failed: bars.reduce((sum, { failed }) => sum + failed, 0),
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}
