/** What the program's end tells a script. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  /** Wrong arguments; nothing was done. */
  usage: 2,
  /** Another Sluice works on the data folder. */
  alreadyRunning: 3,
} as const;

/** Ends a verb with a message of its own and a code of `exitCodes`. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}
