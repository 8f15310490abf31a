/** Connects metrics, telemetry and webhooks with the parts of a gateway. */
import type { SharedCountsView } from '../contract/replica-limits.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import type { LiveConfig } from '../control/live/live-config.ts';
import { createHealthViews } from '../control/views/view-health.ts';
import { version } from '../ground/version.ts';
import type { Admission } from '../http/admission.ts';
import { providerName } from '../observability/gen-ai.ts';
import { Observability } from '../observability/observability.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import type { Transport } from '../transport/transport.ts';
import type { GatewayPorts } from './ports.ts';

interface Foundations {
  ledger: Ledger;
  health: HealthTracker;
  transport: Transport;
  instanceId: string;
}

/** Parts of a gateway that is completely assembled. */
interface Running {
  live: LiveConfig;
  control: Pick<ControlPlane, 'onEvent'>;
  admission: Admission;
  sharedCounts(): SharedCountsView | null;
}

export function createObservability(
  { env, log, config }: GatewayPorts,
  { ledger, health, transport, instanceId }: Foundations,
  running: () => Running,
): Observability {
  const views = createHealthViews(health, Date.now);
  return new Observability({
    version,
    instanceId,
    transport,
    env,
    log,
    providerName(id) {
      const provider = config.current.config.providers.find((each) => each.id === id);
      return providerName(id, provider?.preset);
    },
    onEvent: (listener) => running().control.onEvent(listener),
    figures() {
      const { live, admission, sharedCounts } = running();
      const counts = sharedCounts();
      const { pending, dropped } = ledger.health();
      return {
        running: admission.running,
        waiting: admission.waiting,
        ledgerPending: pending,
        ledgerDropped: dropped,
        unauthenticated: ledger.refusals.count,
        sharedCounts: counts && { isUp: counts.problem === null, replicas: counts.replicas },
        providers: [...live.snapshot.providers.values()].map((provider) => ({
          id: provider.id,
          state: views.provider(provider).state,
        })),
      };
    },
  });
}

/** Resolves once the present settings are in force. */
export async function followSettings(observability: Observability, live: LiveConfig): Promise<void> {
  live.onChange(({ after }) => void observability.follow(after.settings));
  await observability.follow(live.used.config.settings);
}
