/** What the person who gives the command may see of the gateway: on a laptop everything, of a team's gateway what their role lets them. */
import type { PersonView } from '../contract/people-views.ts';
import type { Control } from './control.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { didYouMean } from './wrong-usage.ts';

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

/** Finds a person by id, e-mail address or name, ignoring case. */
export async function findPerson(control: Control, nameOrId: string): Promise<PersonView> {
  const isNamed = (text: string | null) => text?.toLowerCase() === nameOrId.toLowerCase();
  const people = await control.query({ type: 'people' });
  const found = people.filter(({ id, email, name }) => isNamed(id) || isNamed(email) || isNamed(name));
  const [person] = found;
  if (person === undefined) {
    const names = people.flatMap(({ email, name }) => [email ?? name, name]);
    const nearest = didYouMean(nameOrId, names) || ' "sluice people list" lists them.';
    throw new CliError(`There is no person "${nameOrId}".${nearest}`);
  }
  if (found.length === 1) return person;
  throw new CliError(`Several people are called "${nameOrId}": ${found.map(({ id }) => id).join(', ')}. Use an id.`);
}
