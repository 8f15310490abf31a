import { useEffect, useState } from 'react';
import type { ProbeReport } from '../../../../server/contract/probe.ts';
import { type QueryState, useQuery } from '../../../state/control/use-query.ts';
import { createSessionValue, useSessionValue } from '../../../state/window/session-value.ts';

interface TimedReport {
  report: ProbeReport;
  /** Unix milliseconds. */
  at: number;
}

export interface Probe {
  /** The last report, until a newer one or until it is dismissed. Outlives its screen. */
  lastReport: TimedReport | null;
  isRunning: boolean;
  problem: QueryState<'provider-test'>['problem'];
  /** `model`: the model to call; by default a cheap one. */
  run(model?: string): void;
  /** Stops waiting and discards the last report. */
  dismiss(): void;
}

const lastReports = createSessionValue<Readonly<Record<string, TimedReport>>>({});

/** Tests a provider on request, or at once if `startsAtOnce`. */
export function useProbe(id: string, startsAtOnce = false): Probe {
  const [requested, setRequested] = useState<{ model: string | null } | null>(startsAtOnce ? { model: null } : null);
  const { answer, isRunning, problem, refetch } = useQuery<'provider-test'>(
    requested && { type: 'provider-test', id, ...(requested.model !== null && { model: requested.model }) },
  );
  const [reports, setReports] = useSessionValue(lastReports);
  useEffect(() => {
    if (answer) setReports((old) => ({ ...old, [id]: { report: answer, at: Date.now() } }));
  }, [answer, id, setReports]);
  return {
    lastReport: reports[id] ?? null,
    isRunning: requested !== null && isRunning,
    problem: requested === null ? null : problem,
    run(model) {
      if (requested?.model === (model ?? null)) refetch();
      else setRequested({ model: model ?? null });
    },
    dismiss() {
      setRequested(null);
      setReports(({ [id]: _, ...others }) => others);
    },
  };
}
