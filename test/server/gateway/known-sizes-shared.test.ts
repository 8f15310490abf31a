import { beforeEach, describe } from 'vitest';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { startReplica } from '../../support/replica.ts';
import { describeKnownSizes } from './known-sizes.ts';

describe.runIf(hasPostgres())('with the store in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  beforeEach(async () => {
    url = await server.createDatabase();
  });
  describeKnownSizes((config) => startReplica({ url, initial: { version: 1, ...config } }));
});
