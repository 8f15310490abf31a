import { useState } from 'react';
import type { CommandInputMap, CommandResults, CommandType } from '../../../server/contract/commands.ts';
import { asControlError, type ControlError } from '../api/api.ts';
import { useControlStore } from './use-control.ts';

export interface CommandRunner {
  /** The command was sent, but its effect does not show yet. */
  isRunning: boolean;
  /** Why the last command failed; null if it did not. */
  problem: ControlError | null;
  /** Resolves with null if the command failed (see `problem`) or if another one is still running. */
  run<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<CommandResults[T] | null>;
  /** The same, but also returns the problem, which is null if another command is still running. */
  attempt<T extends CommandType>(command: CommandInputMap[T] & { type: T }): Promise<Attempted<CommandResults[T]>>;
  forget(): void;
}

type Attempted<Result> = { result: Result; problem: null } | { result: null; problem: ControlError | null };

/** Runs one command at a time and keeps the outcome of the last one. */
export function useCommand(): CommandRunner {
  const store = useControlStore();
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ControlError | null>(null);
  const attempt = async <T extends CommandType>(
    command: CommandInputMap[T] & { type: T },
  ): Promise<Attempted<CommandResults[T]>> => {
    if (isRunning) return { result: null, problem: null };
    setRunning(true);
    setProblem(null);
    try {
      return { result: await store.execute<T>(command), problem: null };
    } catch (error) {
      const failed = asControlError(error);
      setProblem(failed);
      return { result: null, problem: failed };
    } finally {
      setRunning(false);
    }
  };
  return {
    isRunning,
    problem,
    run: async <T extends CommandType>(command: CommandInputMap[T] & { type: T }) => (await attempt<T>(command)).result,
    attempt,
    forget: () => setProblem(null),
  };
}
