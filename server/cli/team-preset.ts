import type { Command } from 'commander';
import { readTeamPreset } from '../config/read-team-preset.ts';
import { GatewayError } from '../contract/errors.ts';
import { makePresetLink } from '../contract/sluice-link.ts';
import type { TeamPreset } from '../contract/team-preset.ts';
import { refuseManagedOnly } from '../control/changes/change-team-preset.ts';
import type { Examples } from './help.ts';
import { describePreview, offerPreset } from './offer-preset.ts';
import type { Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { readInput, type Terminal } from './terminal.ts';
import type { VerbContext, Verbs } from './verb.ts';

export const teamPresetExamples: Examples = {
  'preset show': ['sluice preset show team.json', 'sluice preset show - < team.json'],
  'preset apply': ['sluice preset apply team.json', 'sluice preset apply team.json --yes'],
  'preset link': ['sluice preset link team.json', 'sluice preset link team.json --json'],
  'preset leave': ['sluice preset leave', 'sluice preset leave --json'],
};

export function addTeamPresetVerbs(program: Command, { on }: Verbs): void {
  const preset = program.command('preset').description('import team presets (docs/teams.md)');

  const show = preset
    .command('show')
    .argument('<file>', 'a team preset; "-" reads stdin')
    .option('--managed', 'judge it as a policy or a part of an installer, not as one to be imported')
    .description('check a team preset and show what it would change');
  on<{ managed?: boolean }>(show, async ({ control, output, terminal }, [file = '-'], { managed = false }) => {
    const parsed = await readPreset(file, terminal, output);
    const preview = await control.query({ type: 'team-preset-preview', preset: parsed, as: 'managed' });
    const whyNot = await whyNotImported(parsed, control);
    const note = whyNot === null ? [] : ['', `It cannot be imported: ${whyNot}`];
    output.show({ ...preview, canBeImported: whyNot === null }, [describePreview(preview), ...note].join('\n'));
    if (whyNot !== null && !managed) process.exitCode = exitCodes.failure;
  });

  const apply = preset
    .command('apply')
    .argument('<file>', 'a team preset; "-" reads stdin')
    .option('-y, --yes', 'do not ask for confirmation')
    .description('show the changes of a team preset, ask for confirmation, and import it');
  on<{ yes?: boolean }>(apply, async (context, [file = '-'], { yes = false }) => {
    const applied = await offerPreset(context, await readPreset(file, context.terminal, context.output), { yes });
    if (!applied) throw new CliError('Nothing was changed.');
    context.output.show(applied.result, applied.text);
  });

  const link = preset
    .command('link')
    .argument('<file>', 'a team preset; "-" reads stdin')
    .description('print a link that opens a preview of the preset in an installed Sluice');
  on(link, async ({ output, terminal }, [file = '-']) => {
    const parsed = await readPreset(file, terminal, output);
    refuseManagedOnly(parsed);
    const presetLink = makePresetLink(parsed);
    if (presetLink === null) throw new CliError('The preset is too long for a link: distribute the file instead.');
    output.show({ link: presetLink }, presetLink);
  });

  on(
    preset.command('leave').description('unlock what the imported preset has set; the values stay'),
    async ({ control, output }) => {
      const result = await control.execute({ type: 'team-preset.leave' });
      output.show(result, 'No imported team preset is in force any more.');
    },
  );
}

async function readPreset(file: string, terminal: Terminal, output: Output): Promise<TeamPreset> {
  const { preset, removed } = readTeamPreset(await readInput(file, terminal), file === '-' ? 'on stdin' : file);
  removed.forEach(output.note);
  return preset;
}

/** Null if it can be imported. */
async function whyNotImported(preset: TeamPreset, { query }: VerbContext['control']): Promise<string | null> {
  try {
    await query({ type: 'team-preset-preview', preset });
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
}
