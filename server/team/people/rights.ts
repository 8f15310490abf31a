/**
 * Derives a person's rights from the groups that the identity provider has told of, in the claim and by SCIM, and the role
 * mapping of the configuration. Pure.
 */
import { hash } from 'node:crypto';
import type { Rights, RoleMapping } from '../../contract/people.ts';

/** Whether a person is in a group of the identity provider, by the names that the group has, as far as SCIM has said so. */
export type SaidGroups = ReadonlyMap<string, boolean>;

/**
 * The combined rights of all roles whose group the person has. Where SCIM has said of a group that the person is in it, or is in
 * it no more, that counts, and otherwise the claim. SCIM alone makes nobody an administrator.
 */
export function rightsOf(claimed: readonly string[], roles: readonly RoleMapping[], said: SaidGroups): Rights {
  const fitting = roles.filter(({ claim, role }) => {
    const isClaimed = claimed.includes(claim);
    const isSaid = said.get(claim) ?? isClaimed;
    return role === 'admin' ? isClaimed && isSaid : isSaid;
  });
  const groupsOf = (role: 'manager' | 'member') => [
    ...new Set(fitting.flatMap((each) => (each.role === role ? each.groups : []))),
  ];
  return {
    isAdmin: fitting.some(({ role }) => role === 'admin'),
    manages: groupsOf('manager'),
    memberOf: groupsOf('member'),
  };
}

export function hasRights({ isAdmin, manages, memberOf }: Rights): boolean {
  return isAdmin || manages.length > 0 || memberOf.length > 0;
}

/** A stable id, which differs between identity providers. */
export function personIdOf(issuer: string, subject: string): string {
  return `prs_${hash('sha256', `${issuer}\0${subject}`).slice(0, 24)}`;
}
