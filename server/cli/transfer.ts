/** `sluice export` and `sluice import`. */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { checkConfig, summarizeProblems } from '../config/check-config.ts';
import { parseConfigJson } from '../config/parse-config-json.ts';
import {
  type AdoptedEntry,
  type AdoptPreview,
  type AdoptVerdict,
  adoptedPrograms,
  adoptNoteTexts,
  isOwnFormat,
  verdictOf,
} from '../contract/adopt-views.ts';
import { formatMessage } from '../contract/coded.ts';
import type { Config } from '../contract/config.ts';
import { controlProblemTexts } from '../contract/control-problem-texts.ts';
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import type { QueryResults } from '../contract/queries.ts';
import { describeRemovedFields } from '../contract/removed-features.ts';
import { type SettingPath, settingEntry } from '../contract/settings-table.ts';
import type { TeamPreset } from '../contract/team-preset.ts';
import { describeFileProblem, systemErrorCode } from '../ground/files/file-problem.ts';
import { type ConfirmOptions, confirm, withConfirmation } from './ask.ts';
import { describeChange, listed } from './describe-change.ts';
import type { Examples } from './examples.ts';
import type { Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { readInput } from './read-input.ts';
import { presetFrom } from './team-preset-from-config.ts';
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

async function writeText(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
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
