/**
 * Makes a program use Sluice for one run, whatever its own settings say, in the way that it offers for a single run, so
 * that no file of the person is changed. Others than these use what their environment says.
 */
import { basename } from 'node:path';
import { prepareAider } from './aider.ts';
import { prepareClaudeCode } from './claude-code.ts';
import { prepareCodex } from './codex.ts';
import { prepareContinue } from './continue.ts';
import { prepareGeminiCli } from './gemini-cli.ts';
import { prepareOpencode } from './opencode.ts';
import type { PreparedProgram, ProgramContext } from './program-context.ts';
import { prepareQwenCode } from './qwen-code.ts';

type Prepare = (context: ProgramContext) => Promise<PreparedProgram>;

/** By the name of the command. */
const programs: ReadonlyMap<string, Prepare> = new Map([
  ['claude', prepareClaudeCode],
  ['codex', prepareCodex],
  ['gemini', prepareGeminiCli],
  ['opencode', prepareOpencode],
  ['qwen', prepareQwenCode],
  ['aider', prepareAider],
  ['cn', prepareContinue],
]);

/** Rejects with a CliError if the program would not use Sluice. */
export async function prepareProgram(command: string, context: ProgramContext): Promise<PreparedProgram> {
  const name = basename(command).replace(/\.(exe|cmd|ps1)$/i, '');
  const prepare = programs.get(name);
  return prepare ? prepare(context) : { parameters: context.parameters, env: {} };
}
