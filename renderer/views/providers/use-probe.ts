import { useEffect, useState } from 'react';
import type { ProbeReport } from '../../../server/contract/probe.ts';
import { createSessionValue, useSessionValue } from '../../state/session-value.ts';
import { type Answered, useQuery } from '../../state/use-query.ts';

interface KeptReport {
  report: ProbeReport;
  /** Unix milliseconds. */
  at: number;
}

export interface Probe {
  /** The last report, until a newer one or until it is dismissed. Outlives its screen. */
  kept: KeptReport | null;
  isRunning: boolean;
  problem: Answered<'provider-test'>['problem'];
  /** `model`: the model to call; by default a cheap one. */
  run(model?: string): void;
  /** Stops waiting and discards the last report. */
  dismiss(): void;
}

const keptReports = createSessionValue<Readonly<Record<string, KeptReport>>>({});

/** Tests a provider on request, or at once if `isWanted`. */
export function useProbe(id: string, isWanted = false): Probe {
  const [wanted, setWanted] = useState<{ model: string | null } | null>(isWanted ? { model: null } : null);
  const { answer, isRunning, problem, askAgain } = useQuery<'provider-test'>(
    wanted && { type: 'provider-test', id, ...(wanted.model !== null && { model: wanted.model }) },
  );
  const [reports, setReports] = useSessionValue(keptReports);
  useEffect(() => {
    if (answer) setReports((old) => ({ ...old, [id]: { report: answer, at: Date.now() } }));
  }, [answer, id, setReports]);
  return {
    kept: reports[id] ?? null,
    isRunning: wanted !== null && isRunning,
    problem: wanted === null ? null : problem,
    run(model) {
      if (wanted?.model === (model ?? null)) askAgain();
      else setWanted({ model: model ?? null });
    },
    dismiss() {
      setWanted(null);
      setReports(({ [id]: _, ...others }) => others);
    },
  };
}
