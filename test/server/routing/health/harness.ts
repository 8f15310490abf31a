import type { FailureClass } from '../../../../server/contract/ledger.ts';
import type { FailedWith } from '../../../../server/contract/provider-views.ts';
import { HealthPicker } from '../../../../server/routing/health/health-picker.ts';
import { HealthTracker } from '../../../../server/routing/health/health-tracker.ts';
import type { PickRequest } from '../../../../server/routing/picker.ts';
import type { Snapshot, Target } from '../../../../server/routing/snapshot.ts';
import { snapshotOf } from '../../../support/providers.ts';

export type Strategy = PickRequest['policy']['strategy'];

/** Providers `a`, `b`, … in this order of priority, each with this many credentials `c1`, `c2`, … */
export function providersWith(
  counts: Record<string, number>,
  secretOf = (name: string) => name,
  host = 'example',
): Snapshot {
  const secrets: Record<string, string> = {};
  const providers = Object.entries(counts).map(([id, count]) => {
    const credentials = Array.from({ length: count }, (_, index) => ({ id: `c${index + 1}` }));
    for (const credential of credentials) {
      const name = `provider/${id}/${credential.id}`;
      secrets[name] = secretOf(name);
    }
    return { id, baseUrl: `https://${id}.${host}/v1`, credentials, models: ['*'] };
  });
  return snapshotOf({ providers }, { secrets });
}

function targetsOf(snapshot: Snapshot, place: Partial<Target> = {}): Target[] {
  return [...snapshot.providers.values()].map((provider, priority) => ({
    provider,
    model: 'm',
    priority,
    weight: 1,
    ...place,
  }));
}

export function pickRequest(strategy: Strategy = 'priority', conversation: string | null = null): PickRequest {
  const policy = snapshotOf({ groups: [{ id: 'g', policy: { strategy } }] }).group('g')?.policy;
  if (!policy) throw new Error('unreachable');
  return {
    policy,
    capability: 'chat',
    isPurchase: false,
    conversation: () => conversation,
    reasoningOrigin: () => null,
  };
}

export interface FakeRun {
  readonly book: HealthTracker;
  readonly picker: HealthPicker;
  readonly snapshot: Snapshot;
  readonly targets: Target[];
  readonly told: { providerId: string; isState: boolean }[];
  nowMs(): number;
  pass(ms: number): void;
  target(id: string): Target;
  /** Runs an attempt from beginning to end. */
  attempt(
    id: string,
    how?: {
      failure?: FailureClass | null;
      /** Default: every failure is one that the upstream reports. */
      isAnswer?: boolean;
      retryAfterMs?: number;
      firstByteMs?: number;
      isDenied?: boolean;
      failedWith?: FailedWith;
      credential?: string;
    },
  ): void;
  /** The providers in the order in which a request calls them. */
  order(strategy?: Strategy, conversation?: string | null): string[];
  credentials(id: string, strategy?: Strategy, conversation?: string | null): string[];
}

/** Health and picker with a clock that the test advances. */
export function fakeRun(
  options: {
    counts?: Record<string, number>;
    prices?: Record<string, number>;
    place?: Partial<Target>;
    secretOf?: (name: string) => string;
    host?: string;
  } = {},
): FakeRun {
  let nowMs = 1_000_000;
  const told: { providerId: string; isState: boolean }[] = [];
  const snapshot = providersWith(options.counts ?? { a: 1, b: 1 }, options.secretOf, options.host);
  const book = new HealthTracker({ nowMs: () => nowMs });
  book.onChange((providerId, isState) => told.push({ providerId, isState }));
  book.follow(snapshot);
  const picker = new HealthPicker({
    health: book,
    typicalPrice: ({ provider }) => options.prices?.[provider.id] ?? null,
  });
  const targets = targetsOf(snapshot, options.place);
  const target = (id: string) => {
    const found = targets.find(({ provider }) => provider.id === id);
    if (!found) throw new Error(`no provider ${id}`);
    return found;
  };
  return {
    ...{ book, picker, snapshot, targets, told, target },
    nowMs: () => nowMs,
    pass: (ms) => {
      nowMs += ms;
    },
    attempt(id, how = {}) {
      const { failure = null, isAnswer = failure !== null, isDenied = false, failedWith = null, credential } = how;
      const credentialId = credential ?? target(id).provider.credentials[0]?.id ?? null;
      picker.began(target(id), credentialId);
      picker.report({
        ...{ target: target(id), credentialId, failure, failedWith, isAnswer, isDenied },
        firstByteMs: how.firstByteMs ?? (failure === null ? 100 : null),
        retryAfterMs: how.retryAfterMs ?? null,
      });
    },
    order: (strategy, conversation) =>
      picker.order(targets, pickRequest(strategy, conversation)).map(({ provider }) => provider.id),
    credentials: (id, strategy, conversation) =>
      picker.credentials(target(id), pickRequest(strategy, conversation)).map((credential) => credential?.id ?? 'none'),
  };
}
