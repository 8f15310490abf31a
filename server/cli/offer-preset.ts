/** Shows a team preset, asks for confirmation, and applies it. */
import type { TeamPresetPreview } from '../contract/change-views.ts';
import type { CommandResults } from '../contract/commands.ts';
import type { TeamPreset } from '../contract/team-preset.ts';
import { askYesNo } from './terminal.ts';
import { describeChange, listed } from './transfer.ts';
import type { VerbContext } from './verb.ts';

interface OfferOptions {
  /** Apply without asking. */
  yes: boolean;
  /** The provider that offered it, as in `team-preset.apply`. */
  joined?: string;
}

interface AppliedPreset {
  result: CommandResults['team-preset.apply'];
  /** Text for the person. */
  text: string;
}

/** Null if the person declined. Rejects with a CliError if there is no terminal to ask on. */
export async function offerPreset(
  { control, output, terminal }: VerbContext,
  preset: TeamPreset,
  { yes, joined }: OfferOptions,
): Promise<AppliedPreset | null> {
  const preview = await control.query({ type: 'team-preset-preview', preset });
  if (!yes) {
    output.note(describePreview(preview));
    if (!(await askYesNo('Apply it?', terminal))) return null;
  }
  const result = await control.execute({
    ...{ type: 'team-preset.apply', preset, expectedRevision: preview.revision },
    ...(joined !== undefined && { joined }),
  });
  return { result, text: describeApplied(preview, result.missingSecrets) };
}

export function describePreview({ preset, changes, locked, enteredAnew }: TeamPresetPreview): string {
  const { name, version, organisation, contact } = preset;
  return [
    `${name}${version === null ? '' : ` (${version})`}, by ${organisation}${contact === null ? '' : `; ask ${contact}`}`,
    ...(changes.length === 0
      ? ['', 'It changes nothing here.']
      : ['', 'It changes:', ...changes.flatMap(describeChange)]),
    ...listed('It locks:', locked),
    ...listed('These credentials are deleted, since their provider’s base URL changes:', enteredAnew),
  ].join('\n');
}

function describeApplied({ preset }: TeamPresetPreview, missing: readonly string[]): string {
  const entries = missing.map((name) => `provider credential ${name.replace('/', ' ')}`);
  return [`"${preset.name}" is applied.`, ...listed('Now enter your credentials with:', entries)].join('\n');
}
