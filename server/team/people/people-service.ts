/** Authenticates people: by the identity provider, a session or an API token. Imported only where people sign in. */

import { hash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { controlError } from '../../contract/control-error.ts';
import { GatewayError } from '../../contract/errors.ts';
import {
  isSameIssuer,
  type PeopleSettings,
  type Person,
  type Rights,
  type RoleMapping,
  type TokenScope,
  tokenScopes,
} from '../../contract/people.ts';
import type { KnownPerson, TokenView } from '../../contract/people-views.ts';
import { dayMs, hourMs } from '../../contract/units.ts';
import type { Caller } from '../../control/people/people.ts';
import { every } from '../../ground/timers.ts';
import type {
  Access,
  AuditPage,
  AuditQuery,
  FoundAccess,
  PeopleStore,
  Revocation,
  StoredPerson,
} from '../../store/ports/people-store.ts';
import type { Fetch } from '../../transport/fetch.ts';
import { readStandings, type Standing } from '../scim/standing.ts';
import {
  createIdentityProvider,
  type DeviceSignIn,
  type IdentityProvider,
  type PendingSignIn,
  SeenLogouts,
  type SignedIn,
} from './identity-provider.ts';
import { type ChecksPorts, checkEveryMs, PeopleChecks } from './people-checks.ts';

/** Lifetime of the token that `sluice login` gets. */
const loginDays = 30;
const auditDays = 400;
const sweepEveryMs = hourMs;
/** Prefix of API tokens, by which secret scanners can find leaked ones. */
const tokenPrefix = 'slt_';

interface PeopleServicePorts {
  store: PeopleStore;
  /** The settings in force. */
  settings(): PeopleSettings | null;
  /** The value of the setting `clientSecret`. */
  clientSecret(reference: string): Promise<string | undefined>;
  /** For calls to the identity provider. */
  fetch: Fetch;
  nowMs(): number;
  refreshTokens: ChecksPorts['refreshTokens'];
  left: ChecksPorts['left'];
  log: ChecksPorts['log'];
}

interface DescribedPerson {
  person: Person;
  standing: Standing | null;
  stored: StoredPerson;
}

/** A new session or token. `secret` is not available again. */
interface IssuedAccess {
  secret: string;
  expiresAt: number;
  person: Person;
}

export class PeopleService {
  readonly #ports: PeopleServicePorts;
  readonly #sweeping: NodeJS.Timeout;
  readonly #watch: AccessWatch;
  readonly #checks: PeopleChecks;
  readonly #logouts = new SeenLogouts();
  #provider: { settings: PeopleSettings; clientSecret: string | null; provider: IdentityProvider } | null = null;

  constructor(ports: PeopleServicePorts) {
    this.#ports = ports;
    this.#sweeping = every(() => this.#sweep(), sweepEveryMs).unref();
    this.#watch = new AccessWatch({ recognize: (ids) => this.#recognizeAll(ids) });
    this.#checks = new PeopleChecks({
      ...ports,
      identityProvider: () => this.#identityProvider(),
      hasRole: async (stored, settings) => {
        const { person, standing } = await this.#describeOne(stored, settings);
        return hasRights(person) && standing?.state !== 'disabled';
      },
      end: (ended) => this.end(ended),
    });
    ports.store.onEnded?.(() => void this.#watch.check());
  }

  /** Like every method that calls the identity provider, rejects with a GatewayError. */
  async begin(returnTo: string): Promise<{ url: string; pending: PendingSignIn }> {
    return (await this.#identityProvider()).begin(returnTo);
  }

  /** Opens a browser's session. */
  async finish(answer: URL, pending: PendingSignIn, address: string | null): Promise<IssuedAccess> {
    const said = await (await this.#identityProvider()).finish(answer, pending);
    const person = await this.#welcome(said, address);
    return this.#open(person, { scopes: null, name: null, lastsMs: this.#settings().sessionHours * hourMs });
  }

  async requestDeviceCode(): Promise<DeviceSignIn> {
    return (await this.#identityProvider()).requestDeviceCode();
  }

  /** An API token for the command line; null while the sign-in is pending. */
  async finishDevice(deviceCode: string, { name, address }: { name: string; address: string | null }) {
    const said = await (await this.#identityProvider()).finishDevice(deviceCode);
    if (!said) return null;
    const person = await this.#welcome(said, address);
    return this.#open(person, { scopes: tokenScopes, name, lastsMs: loginDays * dayMs });
  }

  /**
   * The person whom a session or API token authenticates; null if it is invalid or has ended. Reads the store each
   * time.
   */
  async recognize(secret: string, address: string | null): Promise<Caller | null> {
    const found = this.#ports.settings() && (await this.#ports.store.find(digestOf(secret)));
    return found ? ((await this.#callersOf([found], address))[0] ?? null) : null;
  }

  /**
   * Calls `refused` soon after the caller's access has ended, or what the caller may see has changed. Returns a
   * function that stops watching.
   */
  watch(by: Caller, refused: () => void): () => void {
    return this.#watch.add(by, refused);
  }

  /** Rejects with a GatewayError `not_signed_in` if the session or API token has ended. */
  async checkOpen({ accessId }: Caller): Promise<void> {
    if ((await this.#ports.store.findByIds([accessId])).length === 0) throw notSignedIn();
  }

  /** `days`: the token's lifetime. */
  async createToken(
    by: Caller,
    token: { name: string; scopes: readonly TokenScope[]; days: number },
  ): Promise<IssuedAccess & { id: string }> {
    const { name, scopes, days } = token;
    // A token cannot create one with more rights than its own.
    if (by.scopes && scopes.some((scope) => !by.scopes?.includes(scope)))
      throw controlError('forbidden', { code: 'not-allowed' });
    return this.#open(by.person, { scopes, name, lastsMs: days * dayMs });
  }

  /** The tokens of a person, or of all people. */
  async listTokens(personId: string | null): Promise<TokenView[]> {
    const tokens = await this.#ports.store.listTokens(personId);
    return tokens.map(({ id, personId: of, name, scopes, createdAt, expiresAt }) => ({
      ...{ id, personId: of, name: name ?? '', scopes: scopes ?? [], createdAt, expiresAt },
    }));
  }

  async listPeople(): Promise<KnownPerson[]> {
    const people = await this.#ports.store.listPeople();
    const described = await this.#describe(people, this.#settings());
    return described.map(({ person, standing, stored }) => ({
      ...person,
      signedInAt: stored.signedInAt,
      checkedAt: stored.checkedAt,
      isChecked: stored.checkDueAt !== null,
      scim: standing?.state ?? null,
    }));
  }

  async end(ended: Revocation): Promise<number> {
    const count = await this.#ports.store.end(ended);
    void this.#watch.check();
    return count;
  }

  /** Ends the sessions of the person's browsers, as a logout token of the identity provider says. Rejects with an Error. */
  async endBySignOut(logoutToken: string): Promise<void> {
    const { nowMs, store, log } = this.#ports;
    try {
      const logout = await (await this.#identityProvider()).checkLogout(logoutToken, nowMs());
      this.#logouts.refuseSeen(logout);
      const settings = this.#settings();
      const person = (await store.listPeople()).find(
        (each) => each.subject === logout.subject && isSameIssuer(each.issuer, settings.issuer),
      );
      const ended = person ? await this.end({ browsersOf: person.id }) : 0;
      if (person) await this.#checks.signedOut(person);
      this.#logouts.add(logout, nowMs());
      log.info({ person: person?.id, ended }, 'the identity provider has signed a person out');
    } catch (error) {
      log.info({ error }, 'a logout token had no effect');
      throw error;
    }
  }

  /** Asks the identity provider again what it says of the people whose check is due. Never rejects. */
  checkPeople(): Promise<void> {
    return this.#checks.run();
  }

  /** The person has left, as the identity provider says by SCIM. */
  leave(person: StoredPerson): Promise<void> {
    return this.#checks.leave(person);
  }

  async readAudit(question: AuditQuery): Promise<AuditPage> {
    return this.#ports.store.readAudit(question);
  }

  get store(): Pick<PeopleStore, 'note' | 'keepKeyOwners' | 'endKeyOwners' | 'keysOf' | 'scim' | 'listPeople'> {
    return this.#ports.store;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#watch.close();
    await this.#checks.close();
    await this.#ports.store.close();
  }

  #settings(): PeopleSettings {
    const settings = this.#ports.settings();
    if (!settings) throw controlError('not_found', { code: 'no-sign-in' });
    return settings;
  }

  /** Recreated with each change of the settings or of the client secret, which may be in a file. */
  async #identityProvider(): Promise<IdentityProvider> {
    const settings = this.#settings();
    const clientSecret = await this.#clientSecret(settings);
    if (this.#provider?.settings !== settings || this.#provider.clientSecret !== clientSecret) {
      const provider = createIdentityProvider(settings, { clientSecret, fetch: this.#ports.fetch });
      this.#provider = { settings, clientSecret, provider };
    }
    return this.#provider.provider;
  }

  async #clientSecret({ clientSecret: reference }: PeopleSettings): Promise<string | null> {
    if (reference === null) return null;
    const secret = await this.#ports.clientSecret(reference);
    if (secret !== undefined) return secret;
    const message = `${reference}, the client secret for the sign-in, is not set. An administrator of this Sluice can set it.`;
    throw new GatewayError('sign_in_failed', message);
  }

  /**
   * Stores the identity provider's statements about the person. Rejects with GatewayError `forbidden` for a person
   * without a role, and with SCIM for one who is not assigned: whoever SCIM has disabled, and whoever it does not know unless
   * they are an administrator.
   */
  async #welcome({ identity, refreshToken }: SignedIn, address: string | null): Promise<Person> {
    const { store, nowMs, log } = this.#ports;
    const at = nowMs();
    const id = personIdOf(identity.issuer, identity.subject);
    const described = { ...identity, id, signedInAt: at, checkedAt: at, checkDueAt: null };
    const { person, standing } = await this.#describeOne(described, this.#settings());
    const isAssigned = standing?.state === 'active' || (standing?.state === 'unknown' && person.isAdmin);
    if (standing && !isAssigned) {
      log.info({ person: id, scim: standing.state }, 'a person cannot sign in, because SCIM has not assigned them');
      throw controlError('forbidden', { code: 'not-assigned', name: person.name });
    }
    if (!hasRights(person)) throw controlError('forbidden', { code: 'no-role', name: person.name });
    const isKept = await this.#checks.keepToken(id, refreshToken);
    await store.keepPerson({ ...described, checkDueAt: isKept ? at + checkEveryMs : null });
    await store.note({
      ...{ at, personId: person.id, personName: person.name, tokenId: null, address },
      ...{ action: 'sign-in', target: null, changes: [] },
    });
    return person;
  }

  async #recognizeAll(accessIds: readonly string[]): Promise<Map<string, Caller>> {
    const found = await this.#ports.store.findByIds(accessIds);
    const callers = await this.#callersOf(found, null);
    return new Map(callers.map((caller) => [caller.accessId, caller]));
  }

  /** Of those whose access has not ended. */
  async #callersOf(found: readonly FoundAccess[], address: string | null): Promise<Caller[]> {
    const settings = this.#ports.settings();
    // The others have expired, or belong to another identity provider than the current one.
    const valid = found.filter(
      ({ access, person }) =>
        settings && access.expiresAt > this.#ports.nowMs() && isSameIssuer(person.issuer, settings.issuer),
    );
    if (!settings || valid.length === 0) return [];
    const described = await this.#describe(
      valid.map(({ person }) => person),
      settings,
    );
    return described.flatMap(({ person, standing }, index) => {
      const access = valid[index]?.access;
      if (!access || standing?.state === 'disabled' || !hasRights(person)) return [];
      return { person, scopes: access.scopes, accessId: access.id, address };
    });
  }

  /** People with their present rights, and what SCIM says of them: null while it is off. */
  async #describe(people: readonly StoredPerson[], settings: PeopleSettings): Promise<DescribedPerson[]> {
    const standingOf = await readStandings(this.#ports.store.scim, people, settings);
    return people.map((stored) => {
      const standing = standingOf?.(stored) ?? null;
      const { id, name, email, claimed } = stored;
      const rights = rightsOf(claimed, settings.roles, standing?.said ?? new Map());
      return { stored, standing, person: { id, name, email, ...rights } };
    });
  }

  async #describeOne(stored: StoredPerson, settings: PeopleSettings): Promise<DescribedPerson> {
    const [described] = await this.#describe([stored], settings);
    if (!described) throw new Error('nobody was described');
    return described;
  }

  async #open(
    person: Person,
    { scopes, name, lastsMs }: Pick<Access, 'scopes' | 'name'> & { lastsMs: number },
  ): Promise<IssuedAccess & { id: string }> {
    const secret = `${scopes ? tokenPrefix : ''}${randomBytes(32).toString('base64url')}`;
    const id = `${scopes ? 'tok' : 'ses'}_${randomBytes(8).toString('hex')}`;
    const createdAt = this.#ports.nowMs();
    const expiresAt = createdAt + lastsMs;
    await this.#ports.store.open({
      id,
      hash: digestOf(secret),
      personId: person.id,
      scopes,
      name,
      createdAt,
      expiresAt,
    });
    return { id, secret, expiresAt, person };
  }

  async #sweep(): Promise<void> {
    const nowMs = this.#ports.nowMs();
    try {
      await this.#ports.store.sweep({ nowMs, auditSinceMs: nowMs - auditDays * dayMs });
    } catch (error) {
      this.#ports.log.warn({ error }, 'expired sessions could not be deleted');
    }
  }
}

/** Secrets have 256 random bits, so a plain hash is safe and a lookup by hash reveals nothing through its timing. */
const digestOf = (secret: string) => hash('sha256', secret);

export function notSignedIn(): GatewayError {
  return new GatewayError('not_signed_in', 'Sign in first: open this Sluice in a browser, or run "sluice login".');
}

// Derives a person's rights from the groups that the identity provider has told of, in the claim and by SCIM, and the role
// mapping of the configuration. Pure.

/** Whether a person is in a group of the identity provider, by the names that the group has, as far as SCIM has said so. */
type SaidGroups = ReadonlyMap<string, boolean>;

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

// Notifies long-lived listeners, such as event streams, when their access has ended. One query checks all of them.

interface Options {
  /** The persons whom these sessions and API tokens authenticate now, by id. */
  recognize(accessIds: readonly string[]): Promise<ReadonlyMap<string, Caller>>;
  /** Interval of checks without a notification. */
  everyMs?: number;
}

const defaultEveryMs = 500;

export class AccessWatch {
  readonly #options: Options;
  readonly #watched = new Map<() => void, Caller>();
  readonly #polls: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  #isDueAgain = false;

  constructor(options: Options) {
    this.#options = options;
    this.#polls = every(() => this.check(), options.everyMs ?? defaultEveryMs).unref();
  }

  /**
   * Calls `refused` once the session or token has ended, what the person may see has changed, or neither can be
   * determined. Returns a function that stops watching.
   */
  add(by: Caller, refused: () => void): () => void {
    // Wrapped, because the same callback may be passed several times.
    const notify = () => refused();
    this.#watched.set(notify, by);
    return () => this.#watched.delete(notify);
  }

  /** Checks again who has access, after some of it was revoked. Never rejects. */
  async check(): Promise<void> {
    if (this.#watched.size === 0) return;
    if (this.#running) this.#isDueAgain = true;
    this.#running ??= this.#check();
    await this.#running;
  }

  close(): void {
    clearInterval(this.#polls);
  }

  async #check(): Promise<void> {
    do {
      this.#isDueAgain = false;
      const entries = [...this.#watched];
      const ids = new Set(entries.map(([, { accessId }]) => accessId));
      const now = await this.#options.recognize([...ids]).catch(() => null);
      for (const [refused, { accessId, person }] of entries) {
        if (!isDeepStrictEqual(now?.get(accessId)?.person, person) && this.#watched.delete(refused)) refused();
      }
    } while (this.#isDueAgain);
    this.#running = null;
  }
}
