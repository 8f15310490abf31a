/**
 * A generated day of traffic, counted everywhere: what clients were told, usage, sessions, budgets, exports, the command
 * line, the window, Prometheus and OpenTelemetry have the figures of the ledger's rows.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openLocalStore } from '../../../server/store/local-store.ts';
import { startGateway } from '../../support/gateway.ts';
import { fixedSeeds, randomSeed, runDay } from './run-day.ts';

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterAll(() => {
  vi.useRealTimers();
});

test.each([...fixedSeeds, randomSeed])(
  'a day of traffic from seed %i has the same figures everywhere',
  async (seed) => {
    const { found } = await runDay(seed, ({ folder, config, secrets, ports }) =>
      startGateway({ folder, config, secrets, ports: ports(openLocalStore) }),
    );
    expect(found).toEqual([]);
  },
);
