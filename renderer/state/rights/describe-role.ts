import type { Person } from '../../../server/contract/people.ts';
import type { Messages } from '../../messages/en/en.ts';

/** The highest of a person's roles; empty if there is none. */
export function describeRole({ isAdmin, manages, memberOf }: Person, names: Messages['account']): string {
  if (isAdmin) return names.admin;
  if (manages.length > 0) return names.manager(manages.join(', '));
  return memberOf.length > 0 ? names.member(memberOf.join(', ')) : '';
}
