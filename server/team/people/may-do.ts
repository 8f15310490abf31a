/** Whether a person may issue a command. Pure. */
import type { Command, CommandMap, CommandResults, CommandType } from '../../contract/commands.ts';
import type { Config, KeyConfig } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { GatewayError } from '../../contract/errors.ts';
import { mayWithKey } from '../../contract/key-rights.ts';
import { type Caller, type CommandFacts, checkScope, type ShownResult } from '../../control/people/people.ts';
import { commandRules, type Need } from './command-needs.ts';
import { sees, type Visibility, visibilityOf } from './visibility.ts';

/** The objects that commands refer to. */
interface Facts {
  config: Pick<Config, 'keys' | 'groups'>;
  /** For a command about a session or request: its owner; null if there is none, or the command is about something else. */
  owner: { keyId: string | null; groupId: string | null } | null;
}

/** Null if permitted. Otherwise `not_found` for objects that are invisible to the person, or `forbidden`. */
function refusalOf(command: Command, visibility: Visibility, facts: Facts): GatewayError | null {
  for (const need of needsOf(command.type, command)) {
    const refusal = refusalOfNeed(need, visibility, facts);
    if (refusal) return refusal;
  }
  return null;
}

/** The part of a command's result that the person may see. */
function visibleResult<T extends CommandType>(
  type: T,
  result: CommandResults[T],
  visibility: Visibility | null,
): CommandResults[T] {
  const { keep } = commandRules[type];
  return keep && visibility ? keep(result, visibility) : result;
}

function needsOf<T extends CommandType>(type: T, command: CommandMap[T]): readonly Need[] {
  return commandRules[type].needs(command);
}

function refusalOfNeed(need: Need, visibility: Visibility, facts: Facts): GatewayError | null {
  switch (need.is) {
    case 'everyone':
      return null;
    case 'admin':
      return visibility.isAll ? null : forbidden();
    case 'self':
      return visibility.isAll || visibility.person.id === need.person
        ? null
        : controlError('not_found', { code: 'no-person', id: need.person });
    case 'local':
      return forbidden();
    case 'manager-of-group':
      return inGroup(need.group, visibility, facts, () => visibility.managed.has(need.group));
    case 'key-in-group':
      return inGroup(need.group, visibility, facts, () => need.own !== false || visibility.managed.has(need.group));
    case 'session':
    case 'request':
      return facts.owner && sees(visibility, facts.owner)
        ? null
        : controlError('not_found', { code: `no-${need.is}`, id: need.id });
    default:
      return refusalOfKey(need, visibility, facts.config.keys);
  }
}

function inGroup(id: string, visibility: Visibility, { config }: Facts, may: () => boolean): GatewayError | null {
  const isKnown = visibility.isAll ? config.groups.some((group) => group.id === id) : visibility.groups.has(id);
  if (!isKnown) return controlError('not_found', { code: 'no-group', id }, 'group');
  return visibility.isAll || may() ? null : forbidden();
}

type KeyNeed = Extract<Need, { key: string }>;

function refusalOfKey(need: KeyNeed, visibility: Visibility, keys: readonly KeyConfig[]): GatewayError | null {
  const key = keys.find(({ id }) => id === need.key);
  if (!key || !(visibility.isAll || visibility.keys.has(key.id)))
    return controlError('not_found', { code: 'no-key', id: need.key });
  return mayWithKey(need.is, visibility.person, key) ? null : forbidden();
}

export function forbidden(): GatewayError {
  return controlError('forbidden', { code: 'not-allowed' });
}

// Refuses commands that the caller may not issue.

/**
 * Rejects with a GatewayError if it is refused; otherwise resolves with the reduction of its result to what the caller
 * may see.
 */
export async function permit(command: Command, by: Caller, facts: CommandFacts): Promise<ShownResult> {
  checkScope(by, 'write', ...(command.type.startsWith('key.') ? (['keys'] as const) : []));
  const visibility = check(command, by, { config: facts.config, owner: await ownerOf(command, facts) });
  return (type, result) => visibleResult(type, result, visibility);
}

/** Whose session or request the command is about; null if there is none, or it is about something else. */
async function ownerOf(command: Command, facts: CommandFacts): Promise<Facts['owner']> {
  switch (command.type) {
    case 'session.stop':
    case 'session.resume':
      return facts.session(command.id);
    case 'request.pin':
    case 'request.unpin':
      return facts.request(command.id);
    default:
      return null;
  }
}

/** The same for a change of the configuration, judged by the configuration that it changes. Throws a GatewayError. */
export function permitOn(config: Config, command: Command, by: Caller): void {
  check(command, by, { config, owner: null });
}

function check(command: Command, { person }: Caller, facts: Facts): Visibility {
  const visibility = visibilityOf(person, facts.config);
  const refusal = refusalOf(command, visibility, facts);
  if (refusal) throw refusal;
  return visibility;
}
