/** Refuses commands that the caller may not issue. */
import type { Command } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';
import { type Caller, checkScope } from '../../control/people/caller.ts';
import type { CommandFacts, ShownResult } from '../../control/people/people.ts';
import { type Facts, refusalOf, visibleResult } from './may-do.ts';
import { type Visibility, visibilityOf } from './visibility.ts';

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
