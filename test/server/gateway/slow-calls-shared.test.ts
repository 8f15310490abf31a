import { describe } from 'vitest';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { startReplica } from '../../support/replica.ts';
import { describeSlowCalls } from './streams.ts';

describe.runIf(hasPostgres())('calls of two seconds with the store in PostgreSQL', () => {
  const server = startPostgresInSuite();
  describeSlowCalls(async (config) =>
    startReplica({ url: await server.createDatabase(), initial: { version: 1, ...config } }),
  );
});
