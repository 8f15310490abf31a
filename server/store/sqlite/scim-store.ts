/** What an identity provider has pushed by SCIM, in either database. */
import { isSameIssuer } from '../../contract/people.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type {
  ScimAttributes,
  ScimEnding,
  ScimGroup,
  ScimGroupFilter,
  ScimRange,
  ScimStanding,
  ScimStore,
  ScimUser,
  ScimUserFilter,
} from '../ports/people-store.ts';
import { json, number, type Row, text } from '../rules/columns.ts';
import { allOf, isAmong, literal, raw, type Sql, sql } from '../rules/condition-sql.ts';

/**
 * The tables, in the notation of both databases once the types are named. Attributes are JSON. `scim_members` has a row
 * only where the identity provider has said that a user is a member (1), or is one no more (0); `scim_gone` the external
 * ids of users who were deleted.
 */
export const scimTables = (double: string) => `
  CREATE TABLE scim_token (
    one integer PRIMARY KEY, hash text, issuer text NOT NULL, created_at ${double} NOT NULL, used_at ${double}
  );
  CREATE TABLE scim_users (
    id text PRIMARY KEY, user_name text NOT NULL UNIQUE, external_id text UNIQUE, email text, is_active integer NOT NULL,
    attributes text NOT NULL, version integer NOT NULL, created_at ${double} NOT NULL, modified_at ${double} NOT NULL
  );
  CREATE INDEX scim_users_by_email ON scim_users (email);
  CREATE INDEX scim_users_by_time ON scim_users (created_at, id);
  CREATE TABLE scim_gone (external_id text PRIMARY KEY, at ${double} NOT NULL);
  CREATE TABLE scim_groups (
    id text PRIMARY KEY, name text NOT NULL UNIQUE, display_name text NOT NULL, external_id text,
    created_at ${double} NOT NULL, modified_at ${double} NOT NULL
  );
  CREATE INDEX scim_groups_by_external_id ON scim_groups (external_id);
  CREATE TABLE scim_members (
    group_id text NOT NULL, user_id text NOT NULL, is_member integer NOT NULL, PRIMARY KEY (group_id, user_id)
  );
  CREATE INDEX scim_members_by_user ON scim_members (user_id);
`;

/** What is to be ended of people who were users, as JSON, until it is done. */
export const scimEndings = (double: string) => `
  ALTER TABLE scim_users ADD COLUMN ending text;
  ALTER TABLE scim_users ADD COLUMN ending_due_at ${double};
  CREATE INDEX scim_users_ending ON scim_users (ending_due_at) WHERE ending_due_at IS NOT NULL;
`;

/** Who was no member of a group that was then deleted or named otherwise. */
export const scimGoneMembers = (double: string) => `
  CREATE TABLE scim_gone_members (
    user_id text NOT NULL, display_name text NOT NULL, external_id text, at ${double} NOT NULL,
    PRIMARY KEY (user_id, display_name)
  );
`;

/** Runs a statement; returns its rows. */
type Ask = (statement: Sql) => MaybePromise<Row[]>;

/** `isTaken`: the error says that a value is not unique. */
export function createScimStore(ask: Ask, isTaken: (error: unknown) => boolean): ScimStore {
  /** Of two changes at the same time, each may have found that nobody has the name. */
  const unlessTaken = async <Outcome>(change: () => Promise<Outcome>): Promise<Outcome | 'taken'> => {
    try {
      return await change();
    } catch (error) {
      if (isTaken(error)) return 'taken';
      throw error;
    }
  };
  const [users, groups] = [usersOf(ask), groupsOf(ask)];
  return {
    ...{ ...tokenOf(ask), ...users, ...groups },
    replaceUser: (user) => unlessTaken(() => users.replaceUser(user)),
    replaceGroup: (group) => unlessTaken(() => groups.replaceGroup(group)),
  };
}

/** As it is compared: without regard to case. */
const folded = (name: string) => name.toLowerCase();
const bit = (is: boolean) => (is ? 1 : 0);

function tokenOf(ask: Ask): Pick<ScimStore, 'readToken' | 'replaceToken' | 'endToken' | 'noteUse' | 'counts'> {
  return {
    async readToken() {
      const [row] = await ask(raw('SELECT * FROM scim_token WHERE hash IS NOT NULL'));
      if (!row) return null;
      return {
        hash: text(row.hash) ?? '',
        issuer: text(row.issuer) ?? '',
        createdAt: number(row.created_at) ?? 0,
        usedAt: number(row.used_at),
      };
    },
    async replaceToken({ hash, issuer, createdAt }) {
      const [before] = await ask(raw('SELECT issuer FROM scim_token'));
      if (before && !isSameIssuer(text(before.issuer) ?? '', issuer)) {
        await ask(raw('UPDATE scim_token SET hash = NULL'));
        for (const table of ['gone_members', 'members', 'groups', 'users', 'gone'])
          await ask(raw(`DELETE FROM scim_${table}`));
      }
      await ask(sql`INSERT INTO scim_token (one, hash, issuer, created_at) VALUES (1, ${hash}, ${issuer}, ${createdAt})
        ON CONFLICT (one) DO UPDATE SET hash = excluded.hash, issuer = excluded.issuer,
          created_at = excluded.created_at, used_at = NULL`);
    },
    endToken: async () =>
      (await ask(raw('UPDATE scim_token SET hash = NULL WHERE hash IS NOT NULL RETURNING one'))).length > 0,
    async noteUse(atMs) {
      await ask(sql`UPDATE scim_token SET used_at = ${atMs}`);
    },
    async counts() {
      const [row] = await ask(
        raw(`SELECT (SELECT COUNT(*) FROM scim_users) AS users, (SELECT COUNT(*) FROM scim_groups) AS groups,
          (SELECT COUNT(*) FROM scim_users WHERE is_active = 1) AS active,
          (SELECT COUNT(*) FROM scim_users WHERE is_active = 1 AND external_id IS NULL) AS unnamed,
          (SELECT issuer FROM scim_token) AS issuer`),
      );
      return {
        users: number(row?.users) ?? 0,
        active: number(row?.active) ?? 0,
        withoutExternalId: number(row?.unnamed) ?? 0,
        groups: number(row?.groups) ?? 0,
        issuer: text(row?.issuer ?? null),
      };
    },
  };
}

function usersOf(
  ask: Ask,
): Pick<
  ScimStore,
  'addUser' | 'replaceUser' | 'removeUser' | 'claimEndings' | 'endingDone' | 'findUsers' | 'standings' | 'known'
> {
  const userWith = async (id: string) => (await ask(sql`SELECT * FROM scim_users WHERE id = ${id}`))[0];
  const leaveGroups = async (userId: string) => {
    for (const table of ['members', 'gone_members'])
      await ask(sql`DELETE FROM ${raw(`scim_${table}`)} WHERE user_id = ${userId}`);
  };
  const remember = (externalId: string | null, atMs: number) =>
    externalId === null
      ? []
      : ask(sql`INSERT INTO scim_gone (external_id, at) VALUES (${externalId}, ${atMs}) ON CONFLICT DO NOTHING`);
  return {
    async addUser({ id, attributes, version, ending, createdAt, modifiedAt }) {
      const { userName, externalId, active } = attributes;
      const added = await ask(sql`INSERT INTO scim_users
          (id, user_name, external_id, email, is_active, attributes, version, ending, ending_due_at, created_at, modified_at)
        VALUES (${id}, ${folded(userName)}, ${externalId}, ${emailOf(attributes)}, ${bit(active)},
          ${JSON.stringify(attributes)}, ${version}, ${leaversOf(ending)}, ${ending?.dueAt ?? null}, ${createdAt},
          ${modifiedAt})
        ON CONFLICT DO NOTHING RETURNING id`);
      return added.length > 0;
    },
    async replaceUser({ id, attributes, version, ending, modifiedAt }) {
      const { userName, externalId, active } = attributes;
      const before = await userWith(id);
      if (!before || number(before.version) !== version - 1) return 'changed';
      const taken = await ask(sql`SELECT 1 AS found FROM scim_users
        WHERE id <> ${id} AND (user_name = ${folded(userName)} OR external_id = ${externalId})`);
      if (taken.length > 0) return 'taken';
      const replaced = text(before.external_id);
      if (replaced !== externalId) await remember(replaced, modifiedAt);
      if (replaced !== null && replaced !== externalId && number(before.is_active) === 0) await leaveGroups(id);
      const stored = await ask(sql`UPDATE scim_users SET user_name = ${folded(userName)}, external_id = ${externalId},
          email = ${emailOf(attributes)}, is_active = ${bit(active)}, attributes = ${JSON.stringify(attributes)},
          version = ${version}, ending = ${leaversOf(ending)}, ending_due_at = ${ending?.dueAt ?? null},
          modified_at = ${modifiedAt}
        WHERE id = ${id} AND version = ${version - 1} RETURNING id`);
      return stored.length > 0 ? 'stored' : 'changed';
    },
    async removeUser(id, atMs) {
      const row = await userWith(id);
      if (!row) return null;
      await remember(text(row.external_id), atMs);
      await ask(sql`DELETE FROM scim_users WHERE id = ${id}`);
      await leaveGroups(id);
      return readUser(row);
    },
    async claimEndings({ nowMs, nextMs }) {
      const rows = await ask(
        sql`UPDATE scim_users SET ending_due_at = ${nextMs} WHERE ending_due_at <= ${nowMs} RETURNING *`,
      );
      return rows.map(readUser);
    },
    async endingDone({ id, ending }) {
      await ask(sql`UPDATE scim_users SET ending = NULL, ending_due_at = NULL
        WHERE id = ${id} AND ending = ${leaversOf(ending)}`);
    },
    findUsers: (filter, range) =>
      pageOf(ask, { table: 'scim_users', where: conditionOf(filter), range, read: readUser }),
    async standings(externalIds) {
      const rows = await ask(sql`
        SELECT person.external_id, person.is_active, is_member, team.external_id AS group_external_id,
            CASE WHEN EXISTS (
              SELECT 1 FROM scim_groups AS other WHERE other.external_id = team.display_name AND other.id <> team.id
            ) THEN NULL ELSE team.display_name END AS display_name, CAST(NULL AS double precision) AS gone_at
          FROM scim_users AS person
          LEFT JOIN scim_members AS said ON said.user_id = person.id
          LEFT JOIN scim_groups AS team ON team.id = said.group_id
          WHERE ${isAmong('person.external_id', externalIds)}
        UNION ALL
        SELECT person.external_id, person.is_active, 0, late.external_id, late.display_name, late.at
          FROM scim_users AS person JOIN scim_gone_members AS late ON late.user_id = person.id
          WHERE ${isAmong('person.external_id', externalIds)}
        UNION ALL
        SELECT gone.external_id, 0, NULL, NULL, NULL, NULL FROM scim_gone AS gone
          WHERE ${isAmong('gone.external_id', externalIds)}
            AND NOT EXISTS (SELECT 1 FROM scim_users AS person WHERE person.external_id = gone.external_id)`);
      return standingsIn(rows);
    },
    async known(userIds) {
      const rows = await ask(sql`SELECT id FROM scim_users WHERE ${isAmong('id', userIds)}`);
      return new Set(rows.map(({ id }) => text(id) ?? ''));
    },
  };
}

function groupsOf(
  ask: Ask,
): Pick<
  ScimStore,
  'addGroup' | 'replaceGroup' | 'removeGroup' | 'findGroups' | 'groupsOf' | 'members' | 'setMembers' | 'keepMembers'
> {
  const rememberOthers = (groupId: string, atMs: number) =>
    ask(sql`INSERT INTO scim_gone_members (user_id, display_name, external_id, at)
      SELECT said.user_id, team.display_name, team.external_id, ${literal(atMs)}
        FROM scim_members AS said JOIN scim_groups AS team ON team.id = said.group_id
        WHERE team.id = ${groupId} AND said.is_member = 0
      ON CONFLICT (user_id, display_name) DO UPDATE SET external_id = excluded.external_id, at = excluded.at`);
  return {
    async addGroup({ id, displayName, externalId, createdAt, modifiedAt }) {
      const added = await ask(sql`INSERT INTO scim_groups (id, name, display_name, external_id, created_at, modified_at)
        VALUES (${id}, ${folded(displayName)}, ${displayName}, ${externalId}, ${createdAt}, ${modifiedAt})
        ON CONFLICT DO NOTHING RETURNING id`);
      return added.length > 0;
    },
    async replaceGroup({ id, displayName, externalId, modifiedAt }) {
      const [before] = await ask(sql`SELECT display_name, external_id FROM scim_groups WHERE id = ${id}`);
      const taken = await ask(
        sql`SELECT 1 AS found FROM scim_groups WHERE id <> ${id} AND name = ${folded(displayName)}`,
      );
      if (taken.length > 0) return 'taken';
      if (before && (text(before.display_name) !== displayName || text(before.external_id) !== externalId))
        await rememberOthers(id, modifiedAt);
      const stored = await ask(sql`UPDATE scim_groups SET name = ${folded(displayName)}, display_name = ${displayName},
        external_id = ${externalId}, modified_at = ${modifiedAt} WHERE id = ${id} RETURNING id`);
      return stored.length > 0 ? 'stored' : 'changed';
    },
    async removeGroup(id, atMs) {
      await rememberOthers(id, atMs);
      await ask(sql`DELETE FROM scim_members WHERE group_id = ${id}`);
      return (await ask(sql`DELETE FROM scim_groups WHERE id = ${id} RETURNING id`)).length > 0;
    },
    findGroups: (filter, range) =>
      pageOf(ask, { table: 'scim_groups', where: groupCondition(filter), range, read: readGroup }),
    async groupsOf(userId) {
      const rows = await ask(sql`SELECT * FROM scim_groups WHERE id IN
        (SELECT group_id FROM scim_members WHERE user_id = ${userId} AND is_member = 1) ORDER BY created_at, id`);
      return rows.map(readGroup);
    },
    async members(groupId) {
      const rows = await ask(sql`SELECT id, attributes FROM scim_users WHERE id IN
        (SELECT user_id FROM scim_members WHERE group_id = ${groupId} AND is_member = 1) ORDER BY created_at, id`);
      return rows.map((row) => ({ id: text(row.id) ?? '', userName: userNameIn(row) }));
    },
    async setMembers(groupId, userIds, isMember) {
      const changed = await ask(sql`INSERT INTO scim_members (group_id, user_id, is_member)
        SELECT ${groupId}, id, ${literal(bit(isMember))} FROM scim_users WHERE ${isAmong('id', userIds)}
        ON CONFLICT (group_id, user_id) DO UPDATE SET is_member = excluded.is_member
          WHERE scim_members.is_member <> excluded.is_member RETURNING ${attributesOfMember}`);
      return changed.map(userNameIn);
    },
    async keepMembers(groupId, userIds) {
      const changed = await ask(sql`UPDATE scim_members SET is_member = 0
        WHERE group_id = ${groupId} AND is_member = 1 AND NOT (${isAmong('user_id', userIds)})
        RETURNING ${attributesOfMember}`);
      return changed.map(userNameIn);
    },
  };
}

async function pageOf<Resource>(
  ask: Ask,
  { table, where, range, read }: { table: string; where: Sql; range: ScimRange; read(row: Row): Resource },
) {
  const [counted] = await ask(sql`SELECT COUNT(*) AS total FROM ${raw(table)} WHERE ${where}`);
  const rows = await ask(sql`SELECT * FROM ${raw(table)} WHERE ${where} ORDER BY created_at, id
    LIMIT ${literal(range.limit)} OFFSET ${literal(range.skip)}`);
  return { found: rows.map(read), total: number(counted?.total) ?? 0 };
}

function conditionOf({ id, userName, externalId, email, active }: ScimUserFilter): Sql {
  return allOf([
    ...(id === undefined ? [] : [sql`id = ${id}`]),
    ...(userName === undefined ? [] : [sql`user_name = ${folded(userName)}`]),
    ...(externalId === undefined ? [] : [sql`external_id = ${externalId}`]),
    ...(email === undefined ? [] : [sql`email = ${folded(email)}`]),
    ...(active === undefined ? [] : [sql`is_active = ${bit(active)}`]),
  ]);
}

function groupCondition({ id, displayName, externalId, member }: ScimGroupFilter): Sql {
  return allOf([
    ...(id === undefined ? [] : [sql`id = ${id}`]),
    ...(displayName === undefined ? [] : [sql`name = ${folded(displayName)}`]),
    ...(externalId === undefined ? [] : [sql`external_id = ${externalId}`]),
    ...(member === undefined
      ? []
      : [sql`id IN (SELECT group_id FROM scim_members WHERE user_id = ${member} AND is_member = 1)`]),
  ]);
}

function standingsIn(rows: readonly Row[]): Map<string, ScimStanding> {
  const byId = Map.groupBy(rows, (row) => text(row.external_id) ?? '');
  return new Map(
    [...byId].map(([id, said]) => [
      id,
      {
        isActive: number(said[0]?.is_active) === 1,
        groups: said.flatMap((row) =>
          number(row.is_member) === null
            ? []
            : {
                displayName: text(row.display_name),
                externalId: text(row.group_external_id),
                isMember: number(row.is_member) === 1,
                goneAt: number(row.gone_at),
              },
        ),
      },
    ]),
  );
}

/** By which a user is found: the one for work, the first one, or none. */
function emailOf({ emails }: ScimAttributes): string | null {
  const email = emails.find(({ type }) => type?.toLowerCase() === 'work') ?? emails[0];
  return email ? folded(email.value) : null;
}

const leaversOf = (ending: ScimEnding | null) => ending && JSON.stringify(ending.leavers);

const noAttributes: ScimAttributes = {
  userName: '',
  externalId: null,
  active: false,
  displayName: null,
  name: {},
  emails: [],
};

const readAttributes = (row: Row) => json<ScimAttributes>(row.attributes ?? null, noAttributes);

const attributesOfMember = raw('(SELECT attributes FROM scim_users WHERE id = scim_members.user_id) AS attributes');
const userNameIn = (row: Row) => readAttributes(row).userName;

function readUser(row: Row): ScimUser {
  return {
    id: text(row.id) ?? '',
    attributes: readAttributes(row),
    version: number(row.version) ?? 0,
    ending:
      text(row.ending) === null
        ? null
        : { leavers: json<ScimEnding['leavers']>(row.ending ?? null, []), dueAt: number(row.ending_due_at) ?? 0 },
    createdAt: number(row.created_at) ?? 0,
    modifiedAt: number(row.modified_at) ?? 0,
  };
}

function readGroup(row: Row): ScimGroup {
  return {
    id: text(row.id) ?? '',
    displayName: text(row.display_name) ?? '',
    externalId: text(row.external_id),
    createdAt: number(row.created_at) ?? 0,
    modifiedAt: number(row.modified_at) ?? 0,
  };
}
