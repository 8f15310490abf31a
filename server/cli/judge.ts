/** `sluice faults judge`: runs a client program once for each fault that it should cope with, and reports how it did. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readEnvironment } from '../environment.ts';
import { type JudgeCase, judgeCases, wasAnswered } from '../faults/judge-cases.ts';
import type { ListeningControl } from './control.ts';
import { CliError } from './exit-codes.ts';
import { openListening } from './open-control.ts';
import { createOutput, type Output, table, yesNo } from './output.ts';
import { startProgram } from './start-program.ts';
import type { Terminal } from './terminal.ts';

interface JudgeOptions {
  model: string;
  timeout: number;
  json?: boolean;
  show?: boolean;
}

/** How the program did with one fault. */
interface Judgement {
  fault: string;
  rules: readonly string[];
  /** `hung`: it was killed after the time that it had. */
  result: 'answered' | 'gave up' | 'ended without an answer' | 'hung';
  exitCode: number;
  requests: number;
  answered: boolean;
  seconds: number;
}

interface JudgeRun {
  line: readonly string[];
  options: JudgeOptions;
  terminal: Terminal;
  control: ListeningControl;
  dataDir: string;
}

/** Runs all cases; the exit code is 1 if the program hung or ended well without an answer. */
async function judge(line: readonly string[], options: JudgeOptions, terminal: Terminal): Promise<void> {
  const output = createOutput(terminal, options.json ?? false);
  const { startJudgeUpstream } = await import('./judge-upstream.ts');
  const upstream = await startJudgeUpstream();
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-judge-'));
  try {
    const control = await openJudged(dataDir, terminal, output);
    try {
      const provider = { baseUrl: upstream.baseUrl, models: [options.model, '*'], serves: ['chat' as const] };
      await control.execute({ type: 'provider.add', id: 'judge', provider });
      const judgements = await judgeAll({ line, options, terminal, control, dataDir }, output);
      output.show(judgements, table(head, judgements.map(row), ''));
      const isBad = ({ result }: Judgement) => result === 'hung' || result === 'ended without an answer';
      if (judgements.some(isBad)) process.exitCode = 1;
    } finally {
      await control.close();
    }
  } finally {
    upstream.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function openJudged(dataDir: string, terminal: Terminal, output: Output): Promise<ListeningControl> {
  const env = { ...terminal.env, SLUICE_SECRETS: 'file' };
  return openListening(dataDir, {
    environment: { ...readEnvironment(env), dataDir },
    env,
    notice: output.note,
    teamPresets: terminal.teamPresets,
    windowFolders: [],
  });
}

async function judgeAll(run: JudgeRun, output: Output): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  for (const each of judgeCases) {
    const judgement = await judgeOne(each, run);
    judgements.push(judgement);
    output.note(`${each.name}: ${judgement.result}`);
    if (judgements.length === 1 && judgement.result !== 'answered') {
      throw new CliError(
        `Without any fault the program ${judgement.result} (exit code ${judgement.exitCode}, ${judgement.requests} requests), so it cannot be judged. "--show" shows what it prints.`,
      );
    }
  }
  return judgements;
}

/** By Ctrl+C, which reaches the program and not this process. */
const interrupted = 130;

async function judgeOne({ name, rules }: JudgeCase, run: JudgeRun): Promise<Judgement> {
  const { control, line, options, terminal, dataDir } = run;
  const { key, secret } = await control.execute({ type: 'key.create', keepSecret: false });
  if (rules.length > 0) await control.execute({ type: 'faults.start', key: key.id, rules: [...rules], seed: 1 });
  const startMs = performance.now();
  const timeoutMs = options.timeout * 1000;
  const exitCode = await startProgram(line, {
    origin: control.origin,
    key: { id: key.id, secret },
    model: options.model,
    control,
    dataDir,
    env: terminal.env,
    quiet: !options.show,
    timeoutMs,
  });
  if (exitCode === interrupted) throw new CliError('The program was interrupted.', interrupted);
  const tookMs = performance.now() - startMs;
  const { requests } = await control.query({ type: 'requests', filter: { keyId: key.id }, limit: 1000 });
  const asked = requests.filter(({ capability }) => capability !== null);
  const answered = asked.some(wasAnswered);
  const ended = exitCode === 0 ? (answered ? 'answered' : 'ended without an answer') : 'gave up';
  return {
    fault: name,
    rules,
    result: tookMs >= timeoutMs ? 'hung' : ended,
    exitCode,
    requests: asked.length,
    answered,
    seconds: Math.round(tookMs / 100) / 10,
  };
}

const head = ['fault', 'result', 'exit code', 'requests', 'got an answer', 'seconds'];

function row({ fault, result, exitCode, requests, answered, seconds }: Judgement): string[] {
  return [fault, result, String(exitCode), String(requests), yesNo(answered), seconds.toFixed(1)];
}

const judgeHelp = `
The program runs once for each fault, at a Sluice of its own with a built-in provider of chats that takes any model, and costs
nothing. It should make at least one request and end with 0 if that was answered. The exit code is 1 if it hung, or ended with 0
though it had no answer.`;

export function addJudge(faults: Command, terminal: Terminal, parseSeconds: (text: string) => number): void {
  const command = faults
    .command('judge')
    .argument('<command...>', 'the program and its arguments, best after "--"')
    .description('run a program once for each known fault, and report how it copes')
    .option('--model <name>', 'the model, for programs that take it from their environment', 'judge-model')
    .option('--timeout <seconds>', 'how long each run may take', parseSeconds, 60)
    .option('--show', 'show what the program prints')
    .option('--json', 'print JSON')
    .addHelpText('after', judgeHelp)
    .passThroughOptions();
  command.action(() => judge(command.args, command.opts<JudgeOptions>(), terminal));
}
