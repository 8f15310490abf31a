/** What the person who gives the command may see of the gateway: on a laptop everything, of a team's gateway what their role lets them. */
import type { Control } from './control.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';

/** False for a member or manager of a team's gateway, who may not see providers, aliases and refusals. */
export async function isAdmin(control: Control): Promise<boolean> {
  const { person } = await control.query({ type: 'who-am-i' });
  return person === null || person.isAdmin;
}

/**
 * The group of a command without `--group`: `default`, or the only one that a person has. Rejects with a CliError if they
 * have several.
 */
export async function usualGroup(control: Control): Promise<string> {
  const ids = (await control.query({ type: 'groups' })).map(({ id }) => id);
  const [only, ...others] = ids;
  if (only === undefined || ids.includes('default')) return 'default';
  if (others.length === 0) return only;
  throw new CliError(`Name your group with --group: ${ids.join(', ')}.`, exitCodes.usage);
}
