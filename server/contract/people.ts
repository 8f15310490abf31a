/**
 * People who sign in to a Sluice that a team shares: settings of the sign-in, rights by groups of the identity
 * provider, views.
 */
import { z } from 'zod';
import { limitsSchema } from './limit-settings.ts';
import { isReference } from './observability.ts';

/** `prs_` and 24 hexadecimal digits, derived from the identity provider's issuer and the person's subject there. */
export const personId = z
  .string()
  .regex(/^prs_[0-9a-f]{24}$/, 'use the id of a person: prs_ and 24 hexadecimal digits');

/** A person has no total: their keys come and go. */
export const personLimitsSchema = limitsSchema.refine(
  ({ budgets }) => budgets.every(({ per }) => per !== 'total'),
  'a budget of a person is by day, week or month',
);

/** The same form as ids of groups in the configuration. */
const groupId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use the id of a group');
const claim = z.string().min(1).max(256);

/**
 * The role of the members of one group of the identity provider. `claim`: that group as listed in the claim. A person
 * has the rights of all matching roles.
 */
const roleSchema = z.discriminatedUnion('role', [
  /** May do everything. */
  z.strictObject({ claim, role: z.literal('admin') }),
  /** Manages keys, captures, sessions and usage of these groups. */
  z.strictObject({ claim, role: z.literal('manager'), groups: z.array(groupId).min(1) }),
  /** Has own keys in these groups, and sees their use. */
  z.strictObject({ claim, role: z.literal('member'), groups: z.array(groupId).min(1) }),
]);

/** Some identity providers let people change these, and with them become somebody else. */
const changeableClaims = new Set(['email', 'name', 'nickname', 'preferred_username', 'unique_name', 'upn']);

/** Sign-in by OpenID Connect. Takes effect only with `serve --public-url`. */
export const peopleSchema = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/ })
    .describe("The identity provider's issuer: `https://login.example/realms/acme`."),
  clientId: z.string().min(1).max(256).describe('Sluice’s id at the identity provider.'),
  clientSecret: z
    .string()
    .refine(isReference, 'use env:NAME or file:PATH')
    .nullable()
    .default(null)
    .describe('`env:NAME` or `file:PATH`; null for a public client, which is protected by PKCE alone.'),
  groupsClaim: z
    .string()
    .min(1)
    .max(256)
    .default('groups')
    .describe("The claim of the ID token that lists the person's groups."),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/))
    .default(['openid', 'profile', 'email'])
    .describe(
      'What is asked of the identity provider at the sign-in. With `offline_access`, it says also later who has left.',
    ),
  externalIdClaim: z
    .string()
    .min(1)
    .max(256)
    .refine(
      (name) => !changeableClaims.has(name),
      'use a claim that nobody can change for themselves, such as sub or oid',
    )
    .default('sub')
    .describe(
      "With SCIM: the claim of the ID token that is SCIM's `externalId` of the same person. `sub` with Okta, `oid` with Microsoft Entra. It has to be one that nobody can change for themselves, so no name or e-mail address.",
    ),
  sessionHours: z
    .number()
    .min(0.1)
    .max(720)
    .default(12)
    .describe(
      'How long a browser stays signed in. The groups are read again every ten minutes if the identity provider gives a refresh token, else at the next sign-in.',
    ),
  keysOfLeavers: z
    .enum(['revoke', 'disable', 'keep'])
    .default('revoke')
    .describe(
      'What becomes of the keys of a person who has left, as the identity provider says: they are revoked, disabled until somebody enables them again, or keep working.',
    ),
  requestsOfRevokedKeys: z
    .enum(['finish', 'end'])
    .default('finish')
    .describe("Whether requests that run when a person's key is revoked or disabled go on to their end or are ended."),
  personLimits: personLimitsSchema
    .optional()
    .describe(
      'Of each person, over all of their keys together, in addition to those of the keys and groups. Absent: none.',
    ),
  personLimitsOf: z
    .array(
      z.strictObject({
        person: personId.describe('The id of the person, as in `sluice people list`.'),
        limits: personLimitsSchema.describe('Over all of their keys together. Empty: none.'),
      }),
    )
    .max(10_000)
    .default([])
    .describe('Limits of single people, in place of `personLimits`.'),
  memberKeyLimits: limitsSchema
    .optional()
    .describe(
      'What the keys that members make for themselves are limited to; their managers may change it. Absent: nothing.',
    ),
  hostReferences: z
    .array(
      z
        .string()
        .max(4_096)
        .regex(/^(?:env|file|folder):.+$/s, 'use env:NAME, file:PATH or folder:PATH, with * for any characters'),
    )
    .max(1_000)
    .default([])
    .describe(
      'What administrators who sign in may name of this host, such as `env:TEAM_*`, `file:/run/secrets/*` and `folder:/srv/cassettes/*`. `*` stands for any characters. It can be extended on the machine itself or in its configuration file only.',
    ),
  roles: z
    .array(roleSchema)
    .min(1)
    .max(1_000)
    .describe(
      'Who has which rights: `claim`, a group of the identity provider, has the `role` `admin`, or `manager` or `member` of `groups`.',
    ),
});

export type PeopleSettings = z.infer<typeof peopleSchema>;
export type RoleMapping = PeopleSettings['roles'][number];

/**
 * An identity provider that names itself `https://login.example/` may also be configured as `https://login.example`.
 */
export function isSameIssuer(one: string, other: string): boolean {
  return one === other || URL.parse(one)?.href === URL.parse(other)?.href;
}

/** What a person may do. A person without any rights cannot sign in. */
export interface Rights {
  isAdmin: boolean;
  /** Ids of groups. */
  manages: readonly string[];
  memberOf: readonly string[];
}

export interface Person extends Rights {
  id: string;
  name: string;
  email: string | null;
}

/**
 * The rights of an API token, within those of its person. `read`: queries and exports; `keys`: the commands about keys;
 * `write`: all commands.
 */
export const tokenScopes = ['read', 'keys', 'write'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** The part of the ledger that a person may see: requests and sessions of these keys and groups. */
export interface Within {
  keyIds: readonly string[];
  groupIds: readonly string[];
}
