/** `sluice faults judge`. */

import type { Command } from 'commander';
import type { Examples } from './examples.ts';
import { notes } from './help.ts';
import type { JudgeOptions } from './judge-program.ts';
import type { Terminal } from './terminal.ts';

const judgeHelp = `
The program runs once for each fault, at a Sluice of its own with a built-in provider of chats that takes any model, and costs
nothing. It should make at least one request, and end with 0 only if it got a whole answer. The exit code is 1 if it hung, or ended
with 0 without a whole answer.`;

export const judgeExamples: Examples = {
  'faults judge': [
    'sluice faults judge -- node ask.js',
    'sluice faults judge --only "rate limit" --show -- node ask.js',
    'sluice faults judge --timeout 120 --json -- python agent.py',
  ],
};

export function addJudge(faults: Command, terminal: Terminal, parseSeconds: (text: string) => number): void {
  const command = faults
    .command('judge')
    .argument('<command...>', 'the program and its arguments, best after "--"')
    .description('run a program once for each known fault, and report how it copes')
    .option('--model <name>', 'the model, for programs that take it from their environment', 'judge-model')
    .option('--timeout <seconds>', 'how long each run may take', parseSeconds, 60)
    .option('--only <text>', 'only the faults with this in their name')
    .option('--show', 'show what the program prints')
    .option('--json', 'print JSON')
    .addHelpText('after', notes(judgeHelp))
    .passThroughOptions();
  command.action(async () => {
    const { judge } = await import('./judge-program.ts');
    await judge(command.args, command.opts<JudgeOptions>(), terminal);
  });
}
