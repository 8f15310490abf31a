/** The limiter's contract, with three replicas on one real Valkey (or Redis). */
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { LimitReached } from '../../../server/contract/limits.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../support/valkey.ts';
import { describeLimiter } from '../limits/limiter-contract.ts';
import { openReplica, type Replica, togetherOf } from './replicas.ts';

describe.runIf(hasValkey())('three limiters that count together', () => {
  let valkey: ValkeyServer;
  let replicas: Replica[] = [];

  beforeAll(async () => {
    valkey = await startValkey();
  });
  afterAll(() => valkey.stop());
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await valkey.command('FLUSHALL');
  });

  describeLimiter(async () => {
    const told: LimitReached[] = [];
    // None of them dies, however long a busy machine makes it wait.
    const options = { told, timing: { beatMs: 100, tryAgainMs: 50, aliveMs: 30_000 } };
    const opened = [
      await openReplica(valkey.url, options),
      await openReplica(valkey.url, options),
      await openReplica(valkey.url, options),
    ] as const;
    replicas = [...opened];
    return togetherOf(opened, told);
  });
});
