/** The limiter's contract with three replicas on one real Valkey (or Redis). */
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { LimitReached } from '../../../../server/contract/limits.ts';
import { hasValkey, startValkey, type ValkeyServer } from '../../../support/valkey.ts';
import { describeLimiter } from '../../limits/limiter-contract.ts';
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
    // None of them counts as gone, however long a busy machine stalls this process.
    const options = { told, timing: { beatMs: 100, tryAgainMs: 50, aliveMs: 600_000 } };
    const open = () => openReplica(valkey.url, options);
    const opened = [await open(), await open(), await open()] as const;
    replicas = [...opened];
    return togetherOf(opened, told);
  });
});
