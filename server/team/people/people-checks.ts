/**
 * Asks the identity provider again what it says of people who have signed in, by their refresh tokens: their groups, and
 * whether they are still there. While it cannot be reached, nobody is signed out.
 */
import type { PeopleSettings } from '../../contract/people.ts';
import { minuteMs } from '../../contract/units.ts';
import { every } from '../../ground/timers.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import type { PeopleStore, Revocation, StoredPerson } from '../../store/ports/people-store.ts';
import type { IdentityProvider } from './identity-provider.ts';

export interface ChecksPorts {
  store: Pick<PeopleStore, 'claimDue' | 'endChecks' | 'keepPerson' | 'findPerson' | 'note'>;
  settings(): PeopleSettings | null;
  /** Where refresh tokens are kept, always encrypted. */
  refreshTokens(): Promise<Pick<SecretStore, 'get' | 'set' | 'delete' | 'isOpenInCopies'>>;
  identityProvider(): Promise<Pick<IdentityProvider, 'refresh'>>;
  /** False also if SCIM has disabled the person. */
  hasRole(person: StoredPerson, settings: PeopleSettings): Promise<boolean>;
  end(ended: Revocation): Promise<number>;
  /**
   * The person has left; their sessions and API tokens have ended. Resolves with the ids of keys that go on, because the
   * configuration is a file that Sluice does not write.
   */
  left(personId: string, keys: PeopleSettings['keysOfLeavers']): Promise<readonly string[]>;
  nowMs(): number;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

export const checkEveryMs = 10 * minuteMs;
const lookEveryMs = minuteMs / 2;
/** Of all people of a gateway in a look, so that a thousand are asked about in ten minutes. */
const mostAtOnce = 50;
/** For so long an identity provider may be away without being told of. */
const quietMs = 30 * minuteMs;

export class PeopleChecks {
  readonly #ports: ChecksPorts;
  readonly #looking: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  /** Since when the identity provider has not answered; null if it has. */
  #awaySinceMs: number | null = null;
  #isAwayTold = false;

  constructor(ports: ChecksPorts) {
    this.#ports = ports;
    this.#looking = every(() => this.run(), lookEveryMs).unref();
  }

  /** False if there is no token, or it cannot be kept. */
  async keepToken(personId: string, refreshToken: string | null): Promise<boolean> {
    const { refreshTokens, log } = this.#ports;
    try {
      const store = await refreshTokens();
      if (refreshToken === null) await store.delete(nameOf(personId));
      else if (store.isOpenInCopies)
        throw new Error('neither a passphrase (SLUICE_PASSPHRASE) nor a keychain protects it');
      else await store.set(nameOf(personId), refreshToken);
      return refreshToken !== null;
    } catch (error) {
      const what =
        refreshToken === null
          ? 'a refresh token cannot be deleted'
          : 'a refresh token cannot be kept: the groups are read at the next sign-in';
      log.warn({ error, person: personId }, what);
      return false;
    }
  }

  /** The identity provider ends its own session, and with it the refresh token, unless that is for offline access. */
  async signedOut(person: StoredPerson): Promise<void> {
    if (this.#isOffline() || person.checkDueAt === null) return;
    await this.#forgetToken(person);
  }

  /** Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#look().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await this.#running;
  }

  async #look(): Promise<void> {
    const { store, settings, nowMs, log } = this.#ports;
    if (!settings()) return;
    try {
      const atMs = nowMs();
      for (const person of await store.claimDue({ nowMs: atMs, nextMs: atMs + checkEveryMs, limit: mostAtOnce }))
        await this.#check(person).catch((error: unknown) =>
          log.warn({ error, person: person.id }, 'the groups of a person cannot be read again now'),
        );
    } catch (error) {
      log.warn({ error }, 'the groups of people cannot be read again now');
    }
  }

  async #check(person: StoredPerson): Promise<void> {
    const { identityProvider, refreshTokens, store, nowMs } = this.#ports;
    const token = await (await refreshTokens()).get(nameOf(person.id));
    if (token === undefined) {
      await store.endChecks(person);
      return;
    }
    const asking = identityProvider().then((provider) => provider.refresh(token, person.subject));
    const said = await asking.catch((error: unknown) => this.#away(error));
    if (said === undefined) return;
    this.#awaySinceMs = null;
    this.#isAwayTold = false;
    // Meanwhile they may have signed in again, which replaced the token.
    if ((await store.findPerson(person.id))?.signedInAt !== person.signedInAt) return;
    if (said === null) return this.#tokenEnded(person);
    const isKept = await this.keepToken(person.id, said.refreshToken);
    const { name, email, claimed } = said.identity;
    const externalId = said.identity.externalId ?? person.externalId;
    const checkDueAt = isKept ? person.checkDueAt : null;
    const checked = { ...person, name, email, claimed, externalId, checkedAt: nowMs(), checkDueAt };
    await store.keepPerson(checked);
    const settings = this.#ports.settings();
    if (settings && !(await this.#ports.hasRole(checked, settings))) await this.leave(checked);
  }

  #away(error: unknown): undefined {
    const { nowMs, log } = this.#ports;
    this.#awaySinceMs ??= nowMs();
    const awayMs = nowMs() - this.#awaySinceMs;
    if (awayMs < quietMs || this.#isAwayTold) return;
    this.#isAwayTold = true;
    const minutes = Math.round(awayMs / minuteMs);
    log.error({ error, minutes }, 'the identity provider does not say who is still there; nobody is signed out');
  }

  /** Without offline access, the token ends with a session at the identity provider, which says nothing of the person. */
  async #tokenEnded(person: StoredPerson): Promise<void> {
    const { end, log } = this.#ports;
    if (this.#isOffline()) return this.leave(person);
    const ended = await end({ browsersOf: person.id });
    await this.#forgetToken(person);
    log.info({ person: person.id, ended }, 'a person has to sign in again: their refresh token has ended');
  }

  /**
   * Ends what a person has who has left, as the identity provider says: sessions, API tokens and, by the settings, keys. The
   * refresh token goes last: what fails before is done at the next check.
   */
  async leave(person: StoredPerson): Promise<void> {
    const { store, end, left, nowMs, settings, log } = this.#ports;
    const { id, name } = person;
    await end({ personId: id });
    const kept = await left(id, settings()?.keysOfLeavers ?? 'keep');
    if (kept.length > 0)
      log.error(
        { person: id, keys: kept },
        'a person has left whose keys go on, because they are in the configuration file',
      );
    await store.note({
      ...{ at: nowMs(), personId: id, personName: name, tokenId: null, address: null },
      ...{ action: 'left', target: kept.length > 0 ? kept.join(', ') : null, changes: [] },
    });
    await this.#forgetToken(person);
  }

  /** Unless they have signed in again, which brought another one. */
  async #forgetToken(person: StoredPerson): Promise<void> {
    if (await this.#ports.store.endChecks(person)) await this.keepToken(person.id, null);
  }

  #isOffline(): boolean {
    return this.#ports.settings()?.scopes.includes('offline_access') ?? false;
  }
}

const nameOf = (personId: string) => `people/refresh/${personId}`;
