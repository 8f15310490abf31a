import { useState } from 'react';
import type { CommandInputMap, CommandResults, CommandType } from '../../server/contract/commands.ts';
import { asControlError, type ControlError } from '../api.ts';
import { useControlStore } from './use-control.ts';

export interface CommandRunner {
  /** It was sent and does not show yet. */
  isRunning: boolean;
  /** Why the last one failed; null if it did not. */
  problem: ControlError | null;
  /** Null if it failed, when `problem` says why, or if another one is still running. */
  run<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T] | null>;
  forget(): void;
}

/** To carry out commands one after the other and show how the last one went. */
export function useCommand(): CommandRunner {
  const store = useControlStore();
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  return {
    isRunning,
    problem,
    async run<T extends CommandType>(command: CommandInputMap[T] & { type: T }) {
      if (isRunning) return null;
      setRunning(true);
      setProblem(null);
      try {
        return await store.execute<T>(command);
      } catch (error) {
        setProblem(asControlError(error));
        return null;
      } finally {
        setRunning(false);
      }
    },
    forget: () => setProblem(null),
  };
}
