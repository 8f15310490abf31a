import type { Command } from 'commander';
import { readTeamPreset } from '../config/read-team-preset.ts';
import { confirm, withConfirmation } from './ask.ts';
import { describeChange, listed } from './describe-change.ts';
import type { Examples } from './examples.ts';
import { readInput } from './read-input.ts';
import type { Verbs } from './verb.ts';

interface ApplyOptions {
  file: string;
  dryRun?: boolean;
  yes?: boolean;
}

export const applyExamples: Examples = {
  apply: ['sluice apply -f team.json --dry-run', 'sluice apply -f team.json --yes --gateway https://gateway.example'],
};

export function addApplyVerb(program: Command, { on }: Verbs): void {
  const apply = withConfirmation(
    program
      .command('apply')
      .description('set providers, aliases, groups, limits and settings to what a file declares (docs/teams.md)')
      .requiredOption('-f, --file <file>', 'a file in the form of a team preset; "-" reads stdin')
      .option('--dry-run', 'only show what would change'),
  );
  on<ApplyOptions>(apply, async ({ control, output, terminal }, _, options) => {
    const { file } = options;
    const { preset, removed } = readTeamPreset(await readInput(file, terminal), file === '-' ? 'on stdin' : file);
    removed.forEach(output.note);
    const preview = await control.query({ type: 'team-preset-preview', preset, as: 'managed' });
    const { changes, enteredAnew, revision: expectedRevision } = preview;
    const summary = [
      ...(changes.length === 0 ? ['It changes nothing.'] : ['It changes:', ...changes.flatMap(describeChange)]),
      ...listed('These credentials are deleted, since their provider’s base URL changes:', enteredAnew),
    ].join('\n');
    if (options.dryRun || changes.length === 0) return output.show({ changes, enteredAnew }, summary);
    if (!options.yes) output.note(summary);
    await confirm('Apply it?', options, terminal);
    const result = await control.execute({ type: 'config.apply', preset, expectedRevision });
    const missing = listed('These credentials are missing:', result.missingSecrets);
    output.show({ ...result, changes }, ['The configuration is applied.', ...missing].join('\n'));
  });
}
