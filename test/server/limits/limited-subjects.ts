/** Keys and groups with limits, and the usage of their requests. */

import { afterEach, beforeEach } from 'vitest';
import { GatewayError } from '../../../server/contract/errors.ts';
import { type Budget, limitsSchema } from '../../../server/contract/limit-settings.ts';
import type { Limited, LimitScope } from '../../../server/contract/limits.ts';
import { hourMs } from '../../../server/contract/units.ts';
import type { OwnedKey } from '../../../server/store/ports/people-store.ts';
import type { Amounts } from '../../../server/store/sqlite/usage-history.ts';
import type { fakeLimiter } from './fake-limiter.ts';

export const dayMs = 24 * hourMs;

export const none = { usd: 0, tokens: 0 };

export const exactly = (amounts: Amounts) => ({ likely: amounts, most: amounts });

export const cent = { usd: 0.01, tokens: 10 };

/** The keys of the person. */
export const owned: OwnedKey[] = [{ keyId: 'k', sinceMs: 0, untilMs: null }];

export function limited(limits: object, scope: LimitScope = 'key'): Limited {
  const id = { key: 'k', group: 'g', person: 'p' }[scope];
  return {
    scope,
    id,
    groupId: scope === 'person' ? null : 'g',
    name: id,
    limits: limitsSchema.parse(limits),
    sinceMs: 0,
  };
}

export const budget = (amount: number, per: Budget['per'], more: Partial<Budget> = {}) =>
  limited({ budgets: [{ unit: 'usd', amount, per, ...more }] });

export type Fake = ReturnType<typeof fakeLimiter>;

/** Periods begin by Berlin's time. Registers the hooks. */
export function liveInBerlin(): void {
  const zone = process.env.TZ;
  beforeEach(() => {
    process.env.TZ = 'Europe/Berlin';
  });
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
}

let count = 0;

/** Whether a request is admitted. If so, it ends at once with the given usage. */
export function passes(fake: Fake, subject: Limited, used = cent): boolean {
  const id = `r${count++}`;
  try {
    fake.limiter.admit(id, [subject], exactly(none));
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
  fake.finish(id, used);
  return true;
}

/** Returns the error of the refusal. Throws if the request is admitted. */
export function refusalOf(fake: Fake, subjects: Limited[]): GatewayError {
  try {
    fake.limiter.admit(`r${count++}`, subjects, exactly(none));
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('It was admitted.');
}

/** Returns how many of these requests are admitted. */
export const spend = (fake: Fake, subject: Limited, times: number) =>
  Array.from({ length: times }, () => passes(fake, subject)).filter(Boolean).length;
