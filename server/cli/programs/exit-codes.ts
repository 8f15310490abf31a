/** The program's exit codes. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  /** Wrong arguments; nothing was done. */
  usage: 2,
  /** Another Sluice is using the data folder. */
  alreadyRunning: 3,
} as const;

/** Ends a command with a message and an exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}
