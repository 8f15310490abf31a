import type { KeyView } from '../contract/access-views.ts';
import { controlError } from '../contract/control-error.ts';
import type { Control } from './control.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';

/** The key with this id; without an id, the first usable key that can be shown again. Rejects with a CliError. */
export async function chooseKey(control: Control, id: string | undefined): Promise<KeyView> {
  const keys = await control.query({ type: 'keys' });
  const key = keys.find((each) => (id === undefined ? isUsual(each) : each.id === id));
  if (key) return key;
  if (id !== undefined) throw controlError('not_found', { code: 'no-key', id }, 'key');
  throw new CliError(
    'There is no key that can be shown again. Make one with "sluice key create", or name one with --key.',
  );
}

function isUsual({ enabled, canReveal, expiresAt }: KeyView): boolean {
  return enabled && canReveal && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}

/** The group's default model for chat, or the only model if there is just one. Rejects with a CliError. */
export async function chooseModel(control: Control, key: KeyView): Promise<string> {
  const groups = await control.query({ type: 'groups' });
  const defaultModel = groups.find(({ id }) => id === key.group)?.defaults.chat;
  if (defaultModel !== undefined) return defaultModel;
  const models = await control.query({ type: 'models', key: key.id });
  const [only, ...others] = models;
  if (only && others.length === 0) return only.id;
  const sampleIds = models.slice(0, 5).map(({ id }) => id);
  const examples = sampleIds.length > 0 ? `, such as ${sampleIds.join(', ')}` : '';
  throw new CliError(`Name the model with --model${examples}.`, exitCodes.usage);
}
