/**
 * What the identity provider does with users and groups by SCIM, and what follows from it: whoever is not active any more has
 * left, with the same consequences as where it says so otherwise.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { controlError } from '../../contract/control-error.ts';
import { isSameIssuer, type PeopleSettings } from '../../contract/people.ts';
import type { AuditChange, AuditEntry, ScimAction, ScimView } from '../../contract/people-views.ts';
import { minuteMs } from '../../contract/units.ts';
import { every } from '../../ground/timers.ts';
import type {
  PeopleStore,
  ScimAttributes,
  ScimEnding,
  ScimGroup,
  ScimLeaver,
  ScimUser,
  StoredPerson,
} from '../../store/ports/people-store.ts';
import {
  type GroupChange,
  groupFilter,
  invalid,
  type MemberChange,
  newUser,
  notFound,
  patchedGroup,
  patchedUser,
  rangeOf,
  replacedGroup,
  replacedUser,
  ScimError,
  taken,
  userFilter,
} from './attributes.ts';
import { externalIdOf, readScimToken } from './standing.ts';

interface ProvisioningPorts {
  store: Pick<PeopleStore, 'scim' | 'listPeople' | 'note'>;
  /** The settings in force. */
  settings(): PeopleSettings | null;
  /** The person has left: what they have ends. */
  leave(person: StoredPerson): Promise<void>;
  /** Ends the sessions and API tokens of the person. */
  endAccess(personId: string): Promise<unknown>;
  publicOrigin: string;
  nowMs(): number;
  log: { error(fields: object, message: string): void };
}

/** Prefix of tokens, by which secret scanners can find leaked ones. */
const tokenPrefix = 'sls_';
const tokenPattern = /^sls_[\w-]{43}$/;
const digestOf = (secret: string) => hash('sha256', secret);
const useNotedEveryMs = minuteMs;
/** Replicas may change the same user at the same time. */
const mostAttempts = 5;
/** By name, in an entry of the audit list. */
const mostMembersNoted = 50;
/** When what could not be ended is tried again. */
const endAgainMs = minuteMs / 2;

type Asked = Readonly<Record<string, unknown>>;
type UserChange = (user: ScimAttributes) => ScimAttributes;

export class Provisioning {
  readonly #ports: ProvisioningPorts;
  readonly #looking: NodeJS.Timeout;
  #ending: Promise<void> | null = null;

  constructor(ports: ProvisioningPorts) {
    this.#ports = ports;
    this.#looking = every(() => this.endDue(), endAgainMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await this.#ending;
  }

  /** Ends what people have whose user said that they have left, where that failed or was cut short. Never rejects. */
  endDue(): Promise<void> {
    this.#ending ??= this.#endDue().finally(() => {
      this.#ending = null;
    });
    return this.#ending;
  }

  get baseUrl(): string {
    return `${this.#ports.publicOrigin}/scim/v2`;
  }

  /** A new token, which replaces the one before. `secret` is not available again. */
  async createToken(): Promise<{ secret: string; url: string }> {
    const secret = `${tokenPrefix}${randomBytes(32).toString('base64url')}`;
    const { issuer } = this.#settings();
    await this.#endSinceOff();
    await this.#scim.replaceToken({ hash: digestOf(secret), issuer, createdAt: this.#ports.nowMs() });
    return { secret, url: this.baseUrl };
  }

  async endToken(): Promise<{ ended: boolean }> {
    return { ended: await this.#scim.endToken() };
  }

  async view(): Promise<ScimView> {
    const settings = this.#settings();
    const token = await readScimToken(this.#scim, settings);
    const { createdAt = null, usedAt = null } = token ?? {};
    const { issuer, ...counts } = await this.#scim.counts();
    const isPushed = counts.users > 0 || counts.groups > 0;
    return {
      ...{ isOn: token !== null, url: this.baseUrl, createdAt, usedAt, ...counts },
      unknownPeople: token ? await this.#countUnknown() : 0,
      deletesPushed: isPushed && issuer !== null && !isSameIssuer(issuer, settings.issuer),
    };
  }

  /** Whether the secret is that of the token in force. */
  async admits(secret: string): Promise<boolean> {
    // What cannot be one costs no question to the database.
    if (!tokenPattern.test(secret)) return false;
    const settings = this.#ports.settings();
    const token = settings && (await readScimToken(this.#scim, settings));
    if (!token || token.hash !== digestOf(secret)) return false;
    const nowMs = this.#ports.nowMs();
    if (token.usedAt === null || nowMs - token.usedAt >= useNotedEveryMs) await this.#scim.noteUse(nowMs);
    return true;
  }

  async findUsers(query: Asked) {
    return this.#scim.findUsers(userFilter(query), rangeOf(query));
  }

  async user(id: string): Promise<ScimUser> {
    const { found } = await this.#scim.findUsers({ id }, { skip: 0, limit: 1 });
    if (!found[0]) throw notFound('User', id);
    return found[0];
  }

  groupsOf(userId: string): Promise<ScimGroup[]> {
    return this.#scim.groupsOf(userId);
  }

  async createUser(body: unknown, address: string | null): Promise<ScimUser> {
    const nowMs = this.#ports.nowMs();
    const attributes = replacedUser(newUser, body);
    const ending = endingOf(attributes.active ? [] : [leaverOf(attributes)], nowMs);
    const user = { id: randomUUID(), attributes, version: 1, ending, createdAt: nowMs, modifiedAt: nowMs };
    if (!(await this.#scim.addUser(user))) throw takenUser(attributes);
    await this.#noteUser(null, attributes, address);
    await this.#end(user);
    return user;
  }

  async replaceUser(id: string, body: unknown, address: string | null): Promise<ScimUser> {
    return this.#changeAndNote(id, (user) => replacedUser(user, body), address);
  }

  async patchUser(id: string, body: unknown, address: string | null): Promise<ScimUser> {
    return this.#changeAndNote(id, (user) => patchedUser(user, body), address);
  }

  async removeUser(id: string, address: string | null): Promise<void> {
    const { attributes } = await this.user(id);
    // Before the row goes, so that a request that is repeated after a failure ends what is left.
    await this.#changeUser(id, (user) => ({ ...user, active: false }));
    if (!(await this.#scim.removeUser(id, this.#ports.nowMs()))) throw notFound('User', id);
    await this.#noteUser(attributes, null, address);
  }

  async findGroups(query: Asked) {
    return this.#scim.findGroups(groupFilter(query), rangeOf(query));
  }

  async group(id: string): Promise<ScimGroup> {
    const { found } = await this.#scim.findGroups({ id }, { skip: 0, limit: 1 });
    if (!found[0]) throw notFound('Group', id);
    return found[0];
  }

  members(groupId: string) {
    return this.#scim.members(groupId);
  }

  async createGroup(body: unknown, address: string | null): Promise<ScimGroup> {
    const { displayName, externalId = null, members } = replacedGroup(body);
    if (displayName === undefined) throw invalid('A group needs a displayName.');
    await this.#checkMembers(members);
    const nowMs = this.#ports.nowMs();
    const group = { id: randomUUID(), displayName, externalId, createdAt: nowMs, modifiedAt: nowMs };
    if (!(await this.#scim.addGroup(group))) throw takenGroup(displayName);
    await this.#changeMembers({ before: null, group, changes: members }, address);
    return group;
  }

  replaceGroup(id: string, body: unknown, address: string | null): Promise<ScimGroup> {
    return this.#changeGroup(id, replacedGroup(body), address);
  }

  patchGroup(id: string, body: unknown, address: string | null): Promise<ScimGroup> {
    return this.#changeGroup(id, patchedGroup(body), address);
  }

  async removeGroup(id: string, address: string | null): Promise<void> {
    const group = await this.group(id);
    if (!(await this.#scim.removeGroup(id, this.#ports.nowMs()))) throw notFound('Group', id);
    const { displayName } = group;
    const fields = groupFields(group, null);
    await this.#note('scim.group.delete', { part: 'scim-group', name: displayName, kind: 'removed', fields }, address);
  }

  get #scim() {
    return this.#ports.store.scim;
  }

  #settings(): PeopleSettings {
    const settings = this.#ports.settings();
    if (!settings) throw controlError('not_found', { code: 'no-sign-in' });
    return settings;
  }

  async #changeAndNote(id: string, change: UserChange, address: string | null): Promise<ScimUser> {
    return this.#changeUser(id, change, async (before, after) => {
      if (!isDeepStrictEqual(before, after)) await this.#noteUser(before, after, address);
    });
  }

  /** `stored` is called before anything is ended. */
  async #changeUser(
    id: string,
    change: UserChange,
    stored?: (before: ScimAttributes, after: ScimAttributes) => Promise<void>,
  ): Promise<ScimUser> {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const before = await this.user(id);
      const attributes = change(before.attributes);
      const nowMs = this.#ports.nowMs();
      const leavers = [...(before.ending?.leavers ?? []), ...leaversBetween(before.attributes, attributes)];
      const ending = endingOf(leavers, nowMs);
      const user = { ...before, attributes, version: before.version + 1, ending, modifiedAt: nowMs };
      if (attributes.active && !before.attributes.active) await this.#endAccess(attributes);
      const outcome = await this.#scim.replaceUser(user);
      if (outcome === 'taken') throw takenUser(attributes);
      if (outcome === 'changed') continue;
      await stored?.(before.attributes, attributes);
      await this.#end(user);
      return user;
    }
    throw new ScimError(503, 'The user is being changed by others at the same time. Try again.');
  }

  /** While SCIM was off, whoever it has disabled could sign in and make keys. */
  async #endSinceOff(): Promise<void> {
    const settings = this.#settings();
    const { issuer } = await this.#scim.counts();
    if (issuer === null || !isSameIssuer(issuer, settings.issuer) || (await this.#scim.readToken())) return;
    const people = await this.#people(settings);
    const standings = await this.#scim.standings(people.flatMap((person) => externalIdOf(person, settings) ?? []));
    for (const person of people) {
      const standing = standings.get(externalIdOf(person, settings) ?? '');
      if (standing && !standing.isActive) await this.#ports.leave(person);
    }
  }

  /** Before they are active again: a sign-in that had begun before they were disabled may have ended after it. */
  async #endAccess({ externalId }: ScimAttributes): Promise<void> {
    for (const { id } of await this.#joined({ externalId, addresses: [] })) await this.#ports.endAccess(id);
  }

  /** Ends what people have who have left. If it fails, or this process ends, that is done later (`endDue`). */
  async #end(user: ScimUser): Promise<void> {
    if (!user.ending) return;
    for (const leaver of user.ending.leavers)
      for (const person of await this.#joined(leaver)) await this.#ports.leave(person);
    await this.#scim.endingDone(user);
  }

  async #endDue(): Promise<void> {
    const { log } = this.#ports;
    const failed = (error: unknown) => log.error({ error }, 'what people have who have left cannot be ended now');
    try {
      const settings = this.#ports.settings();
      if (!settings || !(await readScimToken(this.#scim, settings))) return;
      const nowMs = this.#ports.nowMs();
      const due = await this.#scim.claimEndings({ nowMs, nextMs: nowMs + endAgainMs });
      for (const user of due) await this.#end(user).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /**
   * The people who are this user. Those of whom no external id is known yet are found by their e-mail address, if nobody has
   * the external id: that is not enough to be let in, but it is to be shut out.
   */
  async #joined({ externalId, addresses }: ScimLeaver): Promise<StoredPerson[]> {
    const settings = this.#settings();
    const people = await this.#people(settings);
    const known = people.filter((person) => externalId !== null && externalIdOf(person, settings) === externalId);
    if (known.length > 0) return known;
    return people.filter(
      (person) => externalIdOf(person, settings) === null && addresses.includes(person.email?.toLowerCase() ?? ''),
    );
  }

  async #people({ issuer }: PeopleSettings): Promise<StoredPerson[]> {
    return (await this.#ports.store.listPeople()).filter((person) => isSameIssuer(person.issuer, issuer));
  }

  async #countUnknown(): Promise<number> {
    const settings = this.#settings();
    const people = await this.#people(settings);
    const externalIds = people.map((person) => externalIdOf(person, settings));
    const known = await this.#scim.standings(externalIds.filter((each) => each !== null));
    return externalIds.filter((each) => each === null || !known.has(each)).length;
  }

  async #changeGroup(id: string, change: GroupChange, address: string | null): Promise<ScimGroup> {
    const before = await this.group(id);
    const { displayName = before.displayName, externalId = before.externalId, members } = change;
    await this.#checkMembers(members);
    const group = { ...before, displayName, externalId, modifiedAt: this.#ports.nowMs() };
    const outcome = await this.#scim.replaceGroup(group);
    if (outcome === 'taken') throw takenGroup(displayName);
    if (outcome === 'changed') throw notFound('Group', id);
    await this.#changeMembers({ before, group, changes: members }, address);
    return group;
  }

  /** Before anything is changed. */
  async #checkMembers(changes: readonly MemberChange[]): Promise<void> {
    const ids = changes.flatMap((change) => (change.is === 'removed' ? [] : change.ids));
    const known = await this.#scim.known(ids);
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) throw invalid(`There is no user ${unknown}, who is to be a member.`);
  }

  /** `before`: null for a new group. Notes what was changed, also if something of it fails. */
  async #changeMembers(
    { before, group, changes }: { before: ScimGroup | null; group: ScimGroup; changes: readonly MemberChange[] },
    address: string | null,
  ): Promise<void> {
    const [added, removed]: [string[], string[]] = [[], []];
    const scim = this.#scim;
    try {
      for (const { is, ids } of changes) {
        if (is === 'exactly') removed.push(...(await scim.keepMembers(group.id, ids)));
        const changed = await scim.setMembers(group.id, ids, is !== 'removed');
        (is === 'removed' ? removed : added).push(...changed);
      }
    } finally {
      const fields = [
        ...groupFields(before, group),
        ...memberFields('members.added', added),
        ...memberFields('members.removed', removed),
      ];
      const change = { part: 'scim-group', name: group.displayName, fields } as const;
      if (!before) await this.#note('scim.group.create', { ...change, kind: 'added' }, address);
      else if (fields.length > 0) await this.#note('scim.group.update', { ...change, kind: 'changed' }, address);
    }
  }

  async #noteUser(before: ScimAttributes | null, after: ScimAttributes | null, address: string | null): Promise<void> {
    const { userName: name } = after ?? before ?? newUser;
    const kind = before && after ? 'changed' : after ? 'added' : 'removed';
    const change: AuditChange = { part: 'scim-user', name, kind, fields: userFields(before, after) };
    await this.#note(actionOf(before, after), change, address);
  }

  /** The change has already been made, so a failure to record it only goes to the log. */
  async #note(action: ScimAction, change: AuditChange, address: string | null): Promise<void> {
    const entry: Omit<AuditEntry, 'seq'> = {
      ...{ at: this.#ports.nowMs(), personId: 'scim', personName: 'SCIM', tokenId: null, address },
      ...{ action, target: change.name, changes: [change] },
    };
    try {
      await this.#ports.store.note(entry);
    } catch (error) {
      this.#ports.log.error({ error, entry }, 'a change could not be noted in the audit list');
    }
  }
}

/** What differs, as JSON. */
function fieldsBetween<Of extends object>(
  before: Of | null,
  after: Of | null,
  names: readonly (keyof Of & string)[],
): AuditChange['fields'] {
  const textOf = (value: unknown) => (isNothing(value) ? null : JSON.stringify(value));
  return names
    .map((name) => ({ name, before: textOf(before?.[name]), after: textOf(after?.[name]) }))
    .filter((field) => field.before !== field.after);
}

const isNothing = (value: unknown) =>
  value === undefined || value === null || /^(?:\[\]|\{\})$/.test(JSON.stringify(value));

const userFields = (before: ScimAttributes | null, after: ScimAttributes | null) =>
  fieldsBetween(before, after, ['userName', 'externalId', 'active', 'displayName', 'name', 'emails']);
const groupFields = (before: ScimGroup | null, after: ScimGroup | null) =>
  fieldsBetween(before, after, ['displayName', 'externalId']);

function memberFields(name: 'members.added' | 'members.removed', userNames: readonly string[]): AuditChange['fields'] {
  const fieldOf = (field: string, value: unknown) => {
    const text = JSON.stringify(value);
    return {
      name: field,
      ...(name === 'members.added' ? { before: null, after: text } : { before: text, after: null }),
    };
  };
  const first = userNames.slice(0, mostMembersNoted);
  return [
    ...(first.length > 0 ? [fieldOf(name, first)] : []),
    ...(first.length < userNames.length ? [fieldOf(`${name}.count`, userNames.length)] : []),
  ];
}

function actionOf(before: ScimAttributes | null, after: ScimAttributes | null): ScimAction {
  if (!before) return 'scim.user.create';
  if (!after) return 'scim.user.delete';
  if (before.active === after.active) return 'scim.user.update';
  return after.active ? 'scim.user.enable' : 'scim.user.disable';
}

/** Whoever is not active any more, and whoever had an external id that the user has no more. */
function leaversBetween(before: ScimAttributes, after: ScimAttributes): ScimLeaver[] {
  const isOther = before.externalId !== after.externalId;
  return [
    ...(isOther && before.externalId !== null ? [{ externalId: before.externalId, addresses: [] }] : []),
    ...(!after.active && (before.active || isOther) ? [leaverOf(after)] : []),
  ];
}

/** Not by every address, since people may add some themselves at the identity provider. */
function leaverOf({ externalId, userName, emails }: ScimAttributes): ScimLeaver {
  const first = emails.filter(({ type, primary }) => primary === true || type?.toLowerCase() === 'work');
  return { externalId, addresses: [userName, ...first.map(({ value }) => value)].map((each) => each.toLowerCase()) };
}

function endingOf(leavers: readonly ScimLeaver[], nowMs: number): ScimEnding | null {
  return leavers.length > 0 ? { leavers, dueAt: nowMs + endAgainMs } : null;
}

const takenUser = ({ userName }: ScimAttributes) =>
  taken(`There is a user with the userName ${userName}, or with the same externalId.`);
const takenGroup = (name: string) => taken(`There is a group with the displayName ${name}.`);
