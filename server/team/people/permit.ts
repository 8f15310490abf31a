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
  const isOfSession = command.type === 'session.stop' || command.type === 'session.resume';
  const session = isOfSession ? await facts.session(command.id) : null;
  const visibility = check(command, by, { config: facts.config, session });
  return (type, result) => visibleResult(type, result, visibility);
}

/** The same for a change of the configuration, judged by the configuration that it changes. Throws a GatewayError. */
export function permitOn(config: Config, command: Command, by: Caller): void {
  check(command, by, { config, session: null });
}

function check(command: Command, { person }: Caller, facts: Facts): Visibility {
  const visibility = visibilityOf(person, facts.config);
  const refusal = refusalOf(command, visibility, facts);
  if (refusal) throw refusal;
  return visibility;
}
