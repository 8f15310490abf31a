/** The verbs `put`, `enable`, `disable`, `move`, `limit`, `rotate` and `revoke`, which change a key, and `reveal`. */

import { type Command, InvalidArgumentError } from 'commander';
import type { CommandInputMap } from '../contract/commands.ts';
import { hourMs } from '../contract/units.ts';
import { type ConfirmOptions, confirm, withConfirmation } from './ask.ts';
import { addCassetteOptions, type CassetteFlags, cassetteChoice } from './cassette-choice.ts';
import type { Examples } from './examples.ts';
import { collectLimits, type LimitsChoice, limitHelp } from './limit-option.ts';
import { mustExist } from './nearest-id.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { type Expiry, expiryDate, expiryHelp, parseDuration, parseExpiry } from './time-options.ts';
import { collectList, type Verbs } from './verb.ts';

interface PutOptions extends CassetteFlags {
  name?: string;
  group?: string;
  expires?: Expiry;
  models?: string[];
  limit?: LimitsChoice;
  faults?: boolean;
}

const maxGraceHours = 168;

export const modelsHelp = 'only these of the group’s models ("*" matches any characters); "all" for all of them';

/** Null: all models of the group. */
export function modelsChoice(models: string[]): string[] | null {
  return models.length === 1 && models[0] === 'all' ? null : models;
}

type KeyChanges = CommandInputMap['key.update']['changes'];

export const keyChangeExamples: Examples = {
  'key put': ['sluice key put my-editor --expires never', "sluice key put my-editor --models 'gpt-*'"],
  'key move': ['sluice key move my-editor writing', 'sluice key move my-editor default'],
  'key enable': ['sluice key enable my-editor', 'sluice key enable my-editor --gateway https://gateway.example'],
  'key disable': ['sluice key disable my-editor', 'sluice key disable my-editor --gateway https://gateway.example'],
  'key limit': ['sluice key limit my-editor requests=60 concurrent=4 usd=5/day', 'sluice key limit my-editor none'],
  'key revoke': ['sluice key revoke my-editor', 'sluice key revoke my-editor --yes'],
  'key rotate': ['sluice key rotate my-editor', 'sluice key rotate my-editor --grace 24h'],
  'key reveal': ['sluice key reveal my-editor', 'export OPENAI_API_KEY="$(sluice key reveal my-editor)"'],
};

export function addKeyChanges(key: Command, verbs: Verbs): void {
  addPut(key, verbs);
  addSwitches(key, verbs);
  addLimit(key, verbs);
  addSecretVerbs(key, verbs);
}

function addPut(key: Command, { on }: Verbs): void {
  const put = key
    .command('put')
    .argument('<id>')
    .description('change the given properties of a key; its secret stays the same')
    .option('--name <text>', 'display name')
    .option('--group <id>', 'the group it belongs to')
    .option('--expires <when>', expiryHelp, parseExpiry)
    .option('--models <patterns>', modelsHelp, collectList)
    .option('--limit <limits>', `its limits, such as ${limitHelp}`, collectLimits)
    .option('--faults', 'let its requests ask for faults on purpose, by the header x-sluice-fault')
    .option('--no-faults', 'refuse such requests');
  on<PutOptions>(addCassetteOptions(put, 'key'), async ({ control, output }, [id = ''], options) => {
    const before = (await control.query({ type: 'keys' })).find((key) => key.id === id);
    const cassette = cassetteChoice(options, before?.cassette ?? null);
    const changes = { ...changesOf(options), ...(cassette !== undefined && { cassette }) };
    if (Object.keys(changes).length === 0) {
      throw new CliError('Nothing to change was given: see "key put --help".', exitCodes.usage);
    }
    output.show(await control.execute({ type: 'key.update', id, changes }), `Key "${id}" is stored.`);
  });

  const move = key.command('move').argument('<id>').argument('<group>').description('move a key to another group');
  on(move, async ({ control, output }, [id = '', group = '']) => {
    const result = await control.execute({ type: 'key.update', id, changes: { group } });
    output.show(result, `Key "${id}" belongs to group "${group}".`);
  });
}

function addSwitches(key: Command, { on }: Verbs): void {
  const switches = [
    { verb: 'enable', enabled: true, description: 'let a key be used again' },
    { verb: 'disable', enabled: false, description: 'refuse a key until it is enabled again' },
  ];
  for (const { verb, enabled, description } of switches) {
    on(key.command(verb).argument('<id>').description(description), async ({ control, output }, [id = '']) => {
      const result = await control.execute({ type: 'key.update', id, changes: { enabled } });
      output.show(result, `Key "${id}" is ${enabled ? 'enabled' : 'disabled'}.`);
    });
  }
}

function addLimit(key: Command, { on }: Verbs): void {
  const limit = key
    .command('limit')
    .argument('<id>')
    .argument('<limits...>', limitHelp, collectLimits)
    .description('replace the limits of a key');
  on(limit, async ({ control, output }, [id = '', ...items]) => {
    const choice = collectLimits(items.join(','));
    const limits = choice === 'none' ? null : choice;
    const result = await control.execute({ type: 'key.update', id, changes: { limits } });
    output.show(result, limits ? `The limits of key "${id}" are stored.` : `Key "${id}" has no limits of its own.`);
  });
}

function addSecretVerbs(key: Command, { on }: Verbs): void {
  const revoke = withConfirmation(
    key.command('revoke').argument('<id>').description('revoke a key permanently ("disable" can be undone)'),
  );
  on<ConfirmOptions>(revoke, async ({ control, output, terminal }, [id = ''], options) => {
    await mustExist('key', id, control);
    await confirm(`Revoke key "${id}"? Its clients stop working, and it cannot be restored.`, options, terminal);
    output.show(await control.execute({ type: 'key.revoke', id }), `Key "${id}" is revoked.`);
  });

  const rotate = withConfirmation(
    key
      .command('rotate')
      .argument('<id>')
      .description('give a key a new secret')
      .option(
        '--grace <span>',
        'how long the old secret still works: 90m, 24h, 7d (default: it ends at once)',
        parseGrace,
        0,
      ),
  );
  on<ConfirmOptions & { grace: number }>(rotate, async ({ control, output, terminal }, [id = ''], options) => {
    const graceHours = options.grace;
    const end =
      graceHours === 0 ? 'The present one stops working at once.' : 'The present one stops working after that.';
    await mustExist('key', id, control);
    await confirm(`Give key "${id}" a new secret? ${end}`, options, terminal);
    const result = await control.execute({ type: 'key.rotate', id, graceHours });
    output.show(result, result.secret);
  });

  const reveal = key.command('reveal').argument('<id>').description('print the secret of a key, if it was kept');
  on(reveal, async ({ control, output }, [id = '']) => {
    const result = await control.execute({ type: 'key.reveal', id });
    output.show(result, result.secret);
  });
}

function changesOf({ name, group, expires, models, limit, faults }: PutOptions): KeyChanges {
  return {
    ...(name !== undefined && { name: name === '' ? null : name }),
    ...(group !== undefined && { group }),
    ...(expires !== undefined && { expiresAt: expiryDate(expires) }),
    ...(models && { models: modelsChoice(models) }),
    ...(limit && { limits: limit === 'none' ? null : limit }),
    ...(faults !== undefined && { faults }),
  };
}

/** Returns hours. */
function parseGrace(text: string): number {
  const hours = parseDuration(text) / hourMs;
  if (hours <= maxGraceHours) return hours;
  throw new InvalidArgumentError('At most 7d.');
}
