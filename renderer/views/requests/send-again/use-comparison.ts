import { useEffect, useRef, useState } from 'react';
import { callPath, type PathCall } from '../../../state/calls/gateway-api.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { answerOf, type SecondAnswer } from './use-second-answer.ts';

type ComparedAnswer = Extract<SecondAnswer, { state: 'here' }>;

export interface ComparedModel {
  model: string;
  answers: readonly ComparedAnswer[];
}

interface ComparedCall extends Omit<PathCall, 'secret' | 'signal'> {
  model: string;
}

/** State of a comparison; `failed` as for a single request. */
interface ComparisonRunner {
  models: readonly ComparedModel[];
  isRunning: boolean;
  failed: Extract<SecondAnswer, { state: 'failed' }>['reason'] | null;
  /** Calls all models in parallel, with the requests to each in sequence. */
  run(calls: readonly ComparedCall[], times: number): Promise<void>;
  stop(): void;
}

/** Sends requests to the gateway with the chosen key. Closing the dialog aborts those still running. */
export function useComparison(keyChoice: KeyChoice): ComparisonRunner {
  const [models, setModels] = useState<readonly ComparedModel[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [failed, setFailed] = useState<ComparisonRunner['failed']>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const add = (model: string, answer: ComparedAnswer) =>
    setModels((all) =>
      all.map((each) => (each.model === model ? { ...each, answers: [...each.answers, answer] } : each)),
    );
  return {
    models,
    isRunning,
    failed,
    stop: () => running.current?.abort(),
    async run(calls, times) {
      const abort = new AbortController();
      running.current = abort;
      setRunning(true);
      setFailed(null);
      setModels(calls.map(({ model }) => ({ model, answers: [] })));
      const { secret, isGone } = await keyChoice.peek();
      if (!secret) setFailed(isGone ? 'keyless' : 'unreachable');
      else {
        const sendOne = async ({ model, ...call }: ComparedCall) => {
          // A cached answer says nothing about the model.
          const headers = { ...call.headers, 'x-sluice-cache': 'skip' };
          for (let count = 0; count < times; count++) {
            add(model, await answerOf(await callPath({ ...call, headers, secret, signal: abort.signal })));
          }
        };
        await Promise.all(calls.map(sendOne)).catch(() => {
          setFailed(abort.signal.aborted ? 'stopped' : 'unreachable');
          abort.abort();
        });
      }
      setRunning(false);
    },
  };
}
