/** Refuses commands that the caller may not issue. */
import type { Command } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';
import { type Caller, checkScope } from './caller.ts';
import { type Facts, refusalOf } from './may-do.ts';
import { type Visibility, visibilityOf } from './visibility.ts';

interface PermitPorts {
  live: { readonly used: { config: Config } };
  ledger: { getSession(id: string): Promise<{ session: NonNullable<Facts['session']> } | null> };
}

/** Rejects with a GatewayError if it is refused; otherwise resolves with what is visible to the caller. */
export async function permit({ live, ledger }: PermitPorts, command: Command, by: Caller): Promise<Visibility> {
  checkScope(by, 'write', ...(command.type.startsWith('key.') ? (['keys'] as const) : []));
  const isOfSession = command.type === 'session.stop' || command.type === 'session.resume';
  const session = isOfSession ? ((await ledger.getSession(command.id))?.session ?? null) : null;
  const { config } = live.used;
  return check(command, by, { config, session });
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
