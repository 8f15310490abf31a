/**
 * The port to people who sign in: what they may do and see, their API tokens, and the audit list (`server/team/people`).
 * Null where nobody signs in: then whoever reaches the control plane is the administrator of the machine.
 */
import type { ConfigChange } from '../../contract/change-views.ts';
import type { Command, CommandMap, CommandResults, CommandType } from '../../contract/commands.ts';
import type { Config } from '../../contract/config.ts';
import { controlError } from '../../contract/control-error.ts';
import type { ConfigViews, EventMessage } from '../../contract/events.ts';
import type { UsageDimension } from '../../contract/ledger.ts';
import type { Person, TokenScope, Within } from '../../contract/people.ts';
import type { KnownPerson } from '../../contract/people-views.ts';
import type { QueryMap, QueryResults, QueryType } from '../../contract/queries.ts';

export interface People {
  /**
   * Rejects with a GatewayError if the caller may not issue the command. Resolves with a function that reduces the
   * result to what the caller may see.
   */
  permit(command: Command, by: Caller, facts: CommandFacts): Promise<ShownResult>;
  /**
   * The same for a change of the configuration, judged by the configuration that it changes. Rejects with a GatewayError,
   * also if the caller's access has ended since.
   */
  permitOn(config: Config, command: Command, by: Caller): Promise<void>;
  /** Throws a GatewayError if the caller may not ask the query. */
  narrow<T extends QueryType>(type: T, query: QueryMap[T], asked: { by: Caller; config: Config }): NarrowedQuery<T>;
  /** The part of the ledger that the person may see; undefined for all of it. */
  within(person: Person, config: Config): Within | undefined;
  /** Passes on what the person may see of each event. */
  listener(person: Person, sources: EventSources, listener: (message: EventMessage) => void): typeof listener;
  /** Records a change in the audit list. Never rejects. */
  note(change: MadeChange): Promise<void>;
  /**
   * Records in the audit list that the captures of these requests are read. Rejects with a GatewayError if it cannot:
   * then they must not be shown. `by` is absent for the administrator of the machine.
   */
  noteReading(requestIds: readonly string[], by: Caller | undefined): Promise<void>;
  createToken(command: CommandMap['token.create'], by: Caller | undefined): Promise<CommandResults['token.create']>;
  revokeToken(command: CommandMap['token.revoke'], by: Caller | undefined): Promise<CommandResults['token.revoke']>;
  signOut(personId: string): Promise<CommandResults['person.sign-out']>;
  /** Replaces the token of SCIM. */
  createScimToken(): Promise<CommandResults['scim.token']>;
  endScim(): Promise<CommandResults['scim.off']>;
  scim(): Promise<QueryResults['scim']>;
  list(): Promise<KnownPerson[]>;
  tokens(by: Caller | undefined): Promise<QueryResults['tokens']>;
  audit(query: QueryMap['audit']): Promise<QueryResults['audit']>;
  /** Resolves with the number of ended sessions of browsers. */
  endBrowserSessions(): Promise<number>;
}

/** What a command is judged by. */
export interface CommandFacts {
  config: Config;
  /** The owner of a request; null if there is none with this id. */
  request(id: string): Promise<{ keyId: string | null; groupId: string | null } | null>;
  /** The owner of a session; null if there is none with this id. */
  session(id: string): Promise<{ keyId: string | null; groupId: string | null } | null>;
}

export type ShownResult = <T extends CommandType>(type: T, result: CommandResults[T]) => CommandResults[T];

export interface NarrowedQuery<T extends QueryType> {
  /** The query, reduced to what the caller may ask. */
  query: QueryMap[T];
  /** The part of the ledger that the caller may see; undefined for all of it. */
  within: Within | undefined;
  /** The requests that were made with the caller's own keys. */
  own: Within;
  /** Reduces the answer to what the caller may see. Throws GatewayError `not_found` if that is nothing. */
  shown(result: QueryResults[T]): QueryResults[T];
}

interface MadeChange {
  command: Command;
  /** Absent for the administrator of the machine. */
  by: Caller | undefined;
  /** Changes of the configuration. */
  changes: ConfigChange[];
}

/** What events are reduced by. */
export interface EventSources {
  config(): Config;
  reported: ReportedViews;
}

/** The views of the keys and groups with these ids, as in events. */
export interface ReportedViews {
  reportedKeys(ids: ReadonlySet<string>): Pick<ConfigViews, 'keys' | 'keyCount'>;
  reportedGroups(ids: ReadonlySet<string>): Pick<ConfigViews, 'groups' | 'groupCount'>;
}

/** Throws GatewayError `not_found` where nobody signs in. */
export function whereSignedIn(people: People | null): People {
  if (!people) throw controlError('not_found', { code: 'no-sign-in' });
  return people;
}

/** The ledger keeps sums by one dimension each, so it has no sums of a person's keys by model. */
export const isSummed = (by: UsageDimension) => by === 'key' || by === 'group';

// The user of the control plane, unless it is the administrator of the machine.

export interface Caller {
  person: Person;
  /** Null if the person is signed in and has all their rights. */
  scopes: readonly TokenScope[] | null;
  /** Id of the session or API token. */
  accessId: string;
  /** The client's IP address; null if unknown. */
  address: string | null;
}

/** Throws GatewayError `forbidden` if the scopes of an API token do not permit this. */
export function checkScope({ scopes }: Caller, ...sufficient: readonly TokenScope[]): void {
  if (scopes === null || sufficient.some((scope) => scopes.includes(scope))) return;
  throw controlError('forbidden', { code: 'scope-missing', scope: sufficient.join(' or ') });
}
