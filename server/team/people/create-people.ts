/** The control plane's port to the people who sign in: rules, API tokens and the audit list. */
import { controlError } from '../../contract/control-error.ts';
import type { QueryMap, QueryResults, QueryType } from '../../contract/queries.ts';
import type { Caller } from '../../control/people/caller.ts';
import type { NarrowedQuery, People } from '../../control/people/people.ts';
import type { Provisioning } from '../scim/provisioning.ts';
import { visibleEvents } from './event-rules.ts';
import type { PeopleService } from './people-service.ts';
import { permit, permitOn } from './permit.ts';
import { narrowed, visibleAnswer } from './query-rules.ts';
import { ownOf, visibilityOf, withinOf } from './visibility.ts';

interface PeoplePorts {
  service: Pick<PeopleService, 'createToken' | 'listTokens' | 'listPeople' | 'checkOpen' | 'end' | 'readAudit'>;
  provisioning: Pick<Provisioning, 'createToken' | 'endToken' | 'view'>;
  note: People['note'];
  noteReading: People['noteReading'];
}

export function createPeople({ service, provisioning, note, noteReading }: PeoplePorts): People {
  const tokens = (by: Caller | undefined): Promise<QueryResults['tokens']> =>
    service.listTokens(!by || by.person.isAdmin ? null : by.person.id);
  return {
    permit,
    async permitOn(config, command, by) {
      permitOn(config, command, by);
      // Whoever revokes their own access has just ended it.
      if (command.type !== 'person.revoke') await service.checkOpen(by);
    },
    narrow,
    within: (person, config) => withinOf(visibilityOf(person, config)),
    listener: visibleEvents,
    note,
    noteReading,
    async createToken(command, by) {
      // The administrator of the machine has the admin token.
      if (!by) throw controlError('forbidden', { code: 'token-without-person' });
      const { id, secret, expiresAt } = await service.createToken(by, command);
      return { id, secret, expiresAt };
    },
    async revokeToken({ id }, by) {
      const ownTokens = await tokens(by);
      if (!ownTokens.some((token) => token.id === id)) throw controlError('not_found', { code: 'no-token', id });
      await service.end({ id });
      return {};
    },
    signOut: async (personId) => ({ ended: await service.end({ personId }) }),
    createScimToken: () => provisioning.createToken(),
    endScim: () => provisioning.endToken(),
    scim: () => provisioning.view(),
    list: () => service.listPeople(),
    tokens,
    audit: ({ before, limit, personId }) => service.readAudit({ before: before ?? null, limit, personId }),
    endBrowserSessions: () => service.end({ browsers: 'all' }),
  };
}

function narrow<T extends QueryType>(
  type: T,
  query: QueryMap[T],
  { by: { person }, config }: Parameters<People['narrow']>[2],
): NarrowedQuery<T> {
  const visibility = visibilityOf(person, config);
  const narrowedQuery = narrowed(type, query, visibility);
  return {
    query: narrowedQuery,
    within: withinOf(visibility),
    own: ownOf(person, config),
    shown: (result) => visibleAnswer(type, { query: narrowedQuery, result }, visibility),
  };
}
