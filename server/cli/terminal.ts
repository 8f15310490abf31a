import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { PresetPlaces } from '../config/managed-preset.ts';
import { GatewayError } from '../contract/errors.ts';
import type { TeamPart } from '../engine/team.ts';
import { describeFileProblem } from '../ground/files/regular-file.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';

/** A stream to a terminal, or to a file or pipe. */
export type TerminalOutput = Writable & { isTTY?: boolean; columns?: number };

export const colorChoices = ['auto', 'always', 'never'] as const;
type ColorChoice = (typeof colorChoices)[number];

/** The parts of the process that the command line uses. */
export interface Terminal {
  /** Without the paths of Node and the program. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  stdin: Readable & { isTTY?: boolean };
  stdout: TerminalOutput;
  stderr: TerminalOutput;
  /** What `--color` says, which is known once the arguments are read. */
  color?: ColorChoice | undefined;
  /** Folders that may contain the built window; the first match is used. */
  windowFolders: readonly string[];
  /** Possible locations of managed team presets. */
  teamPresets: PresetPlaces;
  /** What gateways for teams add to an engine; absent in a build without it. */
  loadTeam?: (() => Promise<TeamPart>) | undefined;
}

/** How a stream shows what a command prints. */
export interface Look {
  /** In columns; null for a file or a pipe, whose lines do not depend on any width. */
  width: number | null;
  hasColor: boolean;
}

/** Of a file or a pipe. */
export const plainLook: Look = { width: null, hasColor: false };

/** Where a terminal does not say how wide it is. */
const usualWidth = 80;

export function lookOf(stream: TerminalOutput, { env, color }: Pick<Terminal, 'env' | 'color'>): Look {
  const isTerminal = stream.isTTY === true;
  return {
    width: isTerminal ? stream.columns || usualWidth : null,
    hasColor: color === 'always' || (color !== 'never' && (colorIn(env) ?? isTerminal)),
  };
}

/** What the environment says (no-color.org, force-color.org); undefined if nothing. */
function colorIn({ FORCE_COLOR, NO_COLOR, TERM }: Terminal['env']): boolean | undefined {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return NO_COLOR || TERM === 'dumb' ? false : undefined;
}

/** Returns true only if the user answers yes. Rejects with a CliError if stdin is not a terminal. */
export async function askYesNo(question: string, { stdin, stderr }: Terminal): Promise<boolean> {
  if (!stdin.isTTY) throw new CliError('Cannot ask for confirmation without a terminal: use --yes.', exitCodes.usage);
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} (y/N) `)).trim());
  } finally {
    lines.close();
  }
}

export interface ConfirmOptions {
  yes?: boolean;
}

/** Adds `--yes` to a command whose effect cannot be undone. */
export function withConfirmation(command: Command): Command {
  return command.option('-y, --yes', 'do not ask for confirmation');
}

/** Rejects with a CliError unless `--yes` is given or the user agrees. */
export async function confirm(question: string, { yes }: ConfirmOptions, terminal: Terminal): Promise<void> {
  if (yes || (await askYesNo(question, terminal))) return;
  throw new CliError('Nothing was changed.');
}

/** Reads a file, or stdin for `-`. Rejects with a GatewayError if it cannot be read. */
export function readInput(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<string> {
  return file === '-' ? text(stdin) : readTextFile(file);
}

export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new GatewayError('invalid_value', `${path} cannot be read: ${describeFileProblem(error)}.`);
  }
}
