/** Why the engine did not start, as a code with parameters that each language has a text for. */
import type { Coded } from '../server/contract/coded.ts';

export interface StartProblems {
  'folder-taken': { folder: string; pid: number };
  'port-taken': { port: number };
  /** The engine's message, in English. */
  other: { message: string };
}

export type StartProblem = Coded<StartProblems>;

export function startProblemOf(error: unknown): StartProblem {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return { code: 'port-taken', port: Number(error.port) };
  }
  return { code: 'other', message: error instanceof Error ? error.message : String(error) };
}
