/** `sluice export` and `sluice import`. */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { checkConfig, parseConfigJson, problemsOf, summarizeProblems } from '../config/check-config.ts';
import { readTeamPreset } from '../config/read-team-preset.ts';
import {
  type AdoptedEntry,
  type AdoptPreview,
  type AdoptVerdict,
  adoptedPrograms,
  adoptNoteTexts,
  type ConfigChange,
  isOwnFormat,
  verdictOf,
} from '../contract/change-views.ts';
import { formatMessage } from '../contract/coded.ts';
import type { Config } from '../contract/config.ts';
import { controlProblemTexts } from '../contract/control-problem-texts.ts';
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import type { QueryResults } from '../contract/queries.ts';
import { describeRemovedFields } from '../contract/removed-features.ts';
import { settingsSchema } from '../contract/settings.ts';
import {
  isImportable,
  type SettingPath,
  settingEntry,
  settingPaths,
  valueOfSetting,
  withSetting,
} from '../contract/settings-table.ts';
import { type TeamPreset, writtenTeamPresetSchema } from '../contract/team-preset.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/regular-file.ts';
import type { Examples } from './help.ts';
import type { Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { type ConfirmOptions, confirm, readInput, withConfirmation } from './terminal.ts';
import type { VerbContext, Verbs } from './verb.ts';

interface ExportOptions {
  preset?: boolean;
  name?: string;
  organisation?: string;
  managed?: boolean;
}

interface ImportOptions extends ConfirmOptions {
  dryRun?: boolean;
}

type ImportPreview = QueryResults['import-preview'];

export const transferExamples: Examples = {
  export: [
    'sluice export backup.json',
    'sluice export team.json --preset --name "Acme engineering" --organisation Acme',
  ],
  import: [
    'sluice import backup.json --dry-run',
    'sluice import backup.json',
    'sluice import ~/litellm/config.yaml --dry-run',
    'sluice import ~/.claude-code-router/config.json',
  ],
};

export function addTransferVerbs(program: Command, verbs: Verbs): void {
  addExport(program, verbs);
  addImport(program, verbs);
}

function addExport(program: Command, { on }: Verbs): void {
  const exporting = program
    .command('export')
    .argument('[file]', 'the file to write (default: stdout)')
    .description('export the configuration, with references and hashes instead of secrets')
    .option('--preset', 'instead, a team preset: providers, aliases, groups and changed settings, without keys')
    .option('--name <text>', 'the name of the preset')
    .option('--organisation <text>', 'the organisation that publishes the preset')
    .option('--managed', 'for a policy or an installer: also the settings that nobody may import');
  on<ExportOptions>(exporting, async ({ control, output }, [file], options) => {
    const { config } = await control.query({ type: 'config' });
    const exported = options.preset ? exportPreset(config, options, output) : config;
    const json = JSON.stringify(exported, null, 2);
    if (file === undefined) return output.show(exported, json);
    await writeText(file, `${json}\n`);
    output.show({ file }, `Written to ${file}.`);
  });
}

/** Nobody has set these, so nobody misses them. */
const askedByFirstSteps: readonly SettingPath[] = ['guide', 'capture.recent'];

function exportPreset(config: Config, { name, organisation, managed }: ExportOptions, output: Output): TeamPreset {
  if (!(name && organisation)) throw new CliError('A team preset needs --name and --organisation.', exitCodes.usage);
  const { preset, leftOut } = presetFrom(config, { name, organisation }, managed ? 'managed' : 'imported');
  for (const path of leftOut.filter((each) => !askedByFirstSteps.includes(each))) {
    const isOwn = settingEntry(path).preset === 'own-machine';
    const reason = isOwn ? 'is for this machine only' : 'can be set only by a policy or an installer (--managed)';
    output.note(`Left out: settings.${path}, which ${reason}.`);
  }
  return preset;
}

function addImport(program: Command, { on }: Verbs): void {
  const importing = withConfirmation(
    program
      .command('import')
      .argument('<file>', 'an exported configuration, or one of another program; "-" reads stdin')
      .description(
        'replace the whole configuration with an exported one; or add the providers, keys and aliases of LiteLLM (config.yaml), claude-code-router or CC Switch (config.json, SQL export, links on stdin), or a .env file',
      )
      .option('--dry-run', 'only show what would change'),
  );
  on<ImportOptions>(importing, async ({ control, output, terminal }, [file = '-'], options) => {
    if (/^ccswitch:/i.test(file)) {
      throw new CliError(
        'The link holds a key, which other programs see among arguments: pass it on stdin ("-").',
        exitCodes.usage,
      );
    }
    const text = await readInput(file, terminal);
    if (!isOwnConfig(text)) return adopt({ control, output, terminal }, text, options);
    const { config, removed } = parseConfig(text, file === '-' ? 'stdin' : file);
    removed.forEach(output.note);
    const preview = await control.query({ type: 'import-preview', config });
    if (options.dryRun) return output.show(preview, describePreview(preview));
    const isEmpty = preview.changes.length === 0 && preview.refusals.length === 0;
    if (isEmpty && !options.yes) return output.show(preview, describePreview(preview));
    if (!options.yes) output.note(describePreview(preview));
    await confirm('Replace the configuration?', options, terminal);
    const { revision: expectedRevision } = preview;
    const result = await control.execute({ type: 'config.import', config, expectedRevision });
    const missing = listed('These credentials must be entered again:', result.missingSecrets);
    output.show(result, ['The configuration is imported.', ...missing].join('\n'));
  });
}

/** Adds what another program's configuration describes. */
async function adopt(
  { control, output, terminal }: Pick<VerbContext, 'control' | 'output' | 'terminal'>,
  text: string,
  options: ImportOptions,
): Promise<void> {
  const preview = await control.query({ type: 'adopt-preview', text });
  const isEmpty = preview.entries.every((entry) => verdictOf(entry) === 'left-out');
  if (options.dryRun || isEmpty) return output.show(preview, describeAdopt(preview));
  if (!options.yes) output.note(describeAdopt(preview));
  await confirm('Add these?', options, terminal);
  const result = await control.execute({ type: 'config.adopt', text, expectedRevision: preview.revision });
  const missing = listed('These credentials have no secret yet:', result.missingSecrets);
  const summary = options.yes ? [describeAdopt(preview)] : [];
  output.show(result, [...summary, 'They are added.', ...missing].join('\n'));
}

const adoptHeads: Record<AdoptVerdict, string> = {
  taken: 'Taken:',
  changed: 'Taken with a change:',
  'left-out': 'Left out:',
};

function describeAdopt({ program, entries }: AdoptPreview): string {
  const parts = (Object.keys(adoptHeads) as AdoptVerdict[]).flatMap((verdict) => {
    const lines = entries.filter((entry) => verdictOf(entry) === verdict).map(describeAdopted);
    return listed(adoptHeads[verdict], lines);
  });
  return [`A configuration of ${adoptedPrograms[program]}.`, ...parts].join('\n');
}

function describeAdopted({ place, as, key, notes, refusal }: AdoptedEntry): string {
  const becomes = as
    ? [`${as.part} ${as.name} (${as.detail})`, ...(key === undefined ? [] : [`credential ${key}`])]
    : [];
  const said = notes.map((note) => formatMessage(adoptNoteTexts, note));
  const refused = refusal ? [formatMessage(controlProblemTexts, refusal)] : [];
  return `${place}: ${[...becomes, ...said, ...refused].join('; ')}`;
}

/** Whether it looks like a configuration or a preset of Sluice, which says what is wrong with it. */
function isOwnConfig(text: string): boolean {
  try {
    const value = parseConfigJson(text);
    return isObject(value) && isOwnFormat(value);
  } catch {
    return false;
  }
}

function describePreview({ changes, refusals, enteredAnew }: ImportPreview): string {
  const head = changes.length === 0 ? ['It changes nothing.'] : ['It changes:', ...changes.flatMap(describeChange)];
  const refused = refusals.map(({ provider, message }) => `provider ${provider}: ${message}`);
  return [
    ...head,
    ...listed('These credentials must be entered again:', enteredAnew),
    ...listed('It cannot be imported:', refused),
  ].join('\n');
}

/** Rejects with a CliError if the file cannot be written. */
export async function writeText(file: string, text: string | AsyncIterable<string>): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    if (error instanceof GatewayError || error instanceof CliError) throw error;
    const isFolderMissing = systemErrorCode(error) === 'ENOENT';
    const reason = isFolderMissing ? `there is no folder ${dirname(file)}; make it first` : describeFileProblem(error);
    throw new CliError(`${file} cannot be written: ${reason}.`);
  }
}

function parseConfig(json: string, source: string): { config: Config; removed: string[] } {
  const value = parse(json);
  const checked = checkConfig(value);
  if (checked.kind === 'good') return { config: checked.config, removed: describeRemovedFields(value, source) };
  const reason = checked.kind === 'too-new' ? checked.message : summarizeProblems(checked.problems);
  throw new GatewayError('invalid_value', `This configuration cannot be used: ${reason}.`);
}

function parse(json: string): unknown {
  try {
    return parseConfigJson(json);
  } catch (error) {
    throw new GatewayError('invalid_value', `This is not a configuration: ${describeFileProblem(error)}.`);
  }
}

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

/** One line for the part and one for each changed field. */
export function describeChange({ part, name, kind, fields }: ConfigChange): string[] {
  const isSetting = part === 'setting';
  const lines = fields.map(({ name: field, before, after }) => {
    const values = before === null ? (after ?? '(none)') : `${before} -> ${after ?? '(none)'}`;
    return `    ${isSetting ? '' : `${field}: `}${values}`;
  });
  return [`  ${kind} ${part} ${name}`, ...lines];
}

/** An empty line, the title and the items; nothing if there are none. */
export function listed(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : ['', title, ...items.map((item) => `  ${item}`)];
}

interface PresetFromConfig {
  preset: TeamPreset;
  /** Settings that differ from their defaults but are not handed out. */
  leftOut: SettingPath[];
}

/**
 * A team preset that distributes a configuration: its providers with an empty slot for each credential, its aliases and
 * groups, and the settings that differ from their defaults, as far as a preset of this kind may hold them. Keys are not
 * included, and nothing is locked.
 *
 * @throws GatewayError `invalid_value` if something in the configuration looks like a secret
 */
export function presetFrom(
  config: Config,
  names: { name: string; organisation: string },
  kind: 'imported' | 'managed',
): PresetFromConfig {
  const defaults = settingsSchema.parse({});
  const changed = settingPaths.filter(
    (path) => !isDeepStrictEqual(valueOfSetting(config.settings, path), valueOfSetting(defaults, path)),
  );
  const isHandedOut = (path: SettingPath) =>
    isImportable(path) || (kind === 'managed' && settingEntry(path).preset === 'managed');
  const settings = changed
    .filter(isHandedOut)
    .reduce<object>((all, path) => withSetting(all, path, valueOfSetting(config.settings, path)), {});
  const parsed = writtenTeamPresetSchema.safeParse({
    teamPreset: 1,
    ...names,
    providers: config.providers.map(({ joined: _, certificate: __, ...provider }) => ({
      ...provider,
      credentials: provider.credentials.map(({ id, label }) => ({ id, ...(label !== undefined && { label }) })),
    })),
    aliases: config.aliases,
    groups: config.groups.map(({ cassette: _, ...group }) => group),
    ...(Object.keys(settings).length > 0 && { settings }),
  });
  if (parsed.success) return { preset: parsed.data, leftOut: changed.filter((path) => !isHandedOut(path)) };
  const reason = summarizeProblems(problemsOf(parsed.error));
  throw new GatewayError('invalid_value', `This configuration cannot be handed out: ${reason}.`);
}
