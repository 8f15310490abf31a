import { useState } from 'react';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { type TestOutcome, testConnection } from './test-connection.ts';

interface TestCall {
  /** There is a model, and the key's secret is known or can be revealed. */
  isPossible: boolean;
  isRunning: boolean;
  /** Null before the first call. */
  outcome: TestOutcome | null;
  run(): Promise<void>;
}

/** Makes a real call to the chosen model with the chosen key. The secret is used, but not shown. */
export function useTestCall(choice: KeyChoice, model: string): TestCall {
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  return {
    isPossible: model !== '' && choice.key !== null && (choice.key.canReveal || choice.secret !== null),
    isRunning,
    outcome,
    async run() {
      setRunning(true);
      setOutcome(null);
      const { secret } = await choice.peek();
      if (secret) setOutcome(await testConnection(secret, model));
      setRunning(false);
    },
  };
}
