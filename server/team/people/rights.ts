/**
 * Derives a person's rights from the groups that the identity provider returned and the role mapping of the
 * configuration. Pure.
 */
import { hash } from 'node:crypto';
import type { Rights, RoleMapping } from '../../contract/people.ts';

/** The combined rights of all roles whose group the person has. */
export function rightsOf(claimed: readonly string[], roles: readonly RoleMapping[]): Rights {
  const fitting = roles.filter(({ claim }) => claimed.includes(claim));
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

/**
 * An identity provider that names itself `https://login.example/` may also be configured as `https://login.example`.
 */
export function isSameIssuer(one: string, other: string): boolean {
  return one === other || URL.parse(one)?.href === URL.parse(other)?.href;
}
