/** Why the engine did not start or stop, as a code with parameters that each language has a text for. */
import type { Coded } from '../server/contract/coded.ts';

export interface StartProblems {
  'folder-taken': { folder: string; pid: number };
  'port-taken': { port: number };
  /** It did not end cleanly. With the engine's message, in English. */
  'stop-failed': { message: string };
  /** The engine's message, in English. */
  other: { message: string };
}

export type StartProblem = Coded<StartProblems>;

export function startProblemOf(error: unknown): StartProblem {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return { code: 'port-taken', port: Number(error.port) };
  }
  return { code: 'other', message: messageOf(error) };
}

export function stopProblemOf(error: unknown): StartProblem {
  return { code: 'stop-failed', message: messageOf(error) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
