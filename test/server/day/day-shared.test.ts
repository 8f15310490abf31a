/** The day of `day.test.ts` with the store in PostgreSQL. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSharedStore } from '../../../server/store/postgres/open-shared.ts';
import { startGateway } from '../../support/gateway.ts';
import { hasPostgres, startPostgresInSuite } from '../../support/postgres.ts';
import { fixedSeeds, randomSeed, runDay } from './run-day.ts';

describe.runIf(hasPostgres())('with the store in PostgreSQL', () => {
  const server = startPostgresInSuite();
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  test.each([...fixedSeeds, randomSeed])(
    'a day of traffic from seed %i has the same figures everywhere',
    async (seed) => {
      const url = await server.createDatabase();
      const { found } = await runDay(seed, async ({ folder, config, secrets, ports }) => {
        const shared = await openSharedStore({ address: url, env: {}, key: {}, log: { warn() {}, error() {} } });
        if (shared.config.isFirstRun) await shared.config.commit(config);
        const gateway = await startGateway({
          ...{ folder, secrets },
          ports: { config: shared.config, ...ports(shared.openStore) },
        });
        return {
          ...gateway,
          async stop() {
            await gateway.stop();
            await shared.close();
          },
        };
      });
      expect(found).toEqual([]);
    },
  );
});
