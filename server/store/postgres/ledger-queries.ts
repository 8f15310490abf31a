/** The queries of the ledger. Each first writes the rows that are waiting, so that they are included. */

import { unreadable } from '../rules/failures.ts';
import type { LedgerQueries } from '../sqlite/queries.ts';
import { readCapture } from './captures.ts';
import { explained } from './failures.ts';
import { firstByteTimes } from './first-byte-queries.ts';
import type { Postgres } from './postgres.ts';
import { recordedNames } from './request-conditions.ts';
import {
  countRequests,
  getRequest,
  listClientModels,
  listClients,
  listRequests,
  listUnpriced,
} from './request-queries.ts';
import { getSession, listSessions } from './session-queries.ts';
import { summarizeUsage, usageOverTime } from './usage-queries.ts';

interface Asking {
  postgres: Postgres;
  /** Writes the waiting rows; does not reject. */
  flush(): Promise<void>;
  lastUsed(): Map<string, number>;
}

/** The queries reject with a GatewayError `storage_unavailable` while the database cannot be read. */
export function createPostgresQueries({ postgres, flush, lastUsed }: Asking): LedgerQueries {
  const read = async <T>(ask: () => Promise<T>): Promise<T> => {
    await flush();
    return explained(ask, unreadable);
  };
  return {
    listRequests: (filter) => read(() => listRequests(postgres, filter)),
    getRequest: (id) => read(() => getRequest(postgres, id)),
    countRequests: (filter) => read(() => countRequests(postgres, filter)),
    listNames: (dimension) => read(() => recordedNames(postgres, dimension)),
    listClients: () => read(() => listClients(postgres)),
    listClientModels: (sinceMs) => read(() => listClientModels(postgres, sinceMs)),
    listUnpriced: () => read(() => listUnpriced(postgres)),
    summarizeUsage: (question) => read(() => summarizeUsage(postgres, question)),
    usageOverTime: (question) => read(() => usageOverTime(postgres, question)),
    firstByteTimes: (question) => read(() => firstByteTimes(postgres, question)),
    lastUsed,
    readCapture: (request) => read(() => readCapture(postgres, request)),
    listSessions: (filter) => read(() => listSessions(postgres, filter)),
    getSession: (id, reading) => read(() => getSession(postgres, id, reading)),
  };
}
