/** Connects metrics, telemetry and webhooks with the parts of a gateway. */
import type { SharedCountsView } from '../contract/replica-limits.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import type { LiveConfig } from '../control/live/live-config.ts';
import { createHealthViews } from '../control/views/view-health.ts';
import { version } from '../ground/version.ts';
import type { Admission } from '../http/admission.ts';
import { providerName, serverAt } from '../observability/gen-ai.ts';
import { Observability, type Observed } from '../observability/observability.ts';
import type { HealthTracker } from '../routing/health/health-tracker.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';
import type { Transport } from '../transport/transport.ts';
import type { GatewayPorts } from './ports.ts';

interface Foundations {
  transport: Transport;
  instanceId: string;
}

export function createObservability(
  { env, logging: { log }, config }: GatewayPorts,
  { transport, instanceId }: Foundations,
): Observability {
  return new Observability({
    version,
    instanceId,
    transport,
    env,
    log,
    service(id) {
      const provider = config.current.config.providers.find((each) => each.id === id);
      return { name: providerName(id, provider?.preset), server: serverAt(provider?.baseUrl) };
    },
  });
}

/** What is observed of a gateway. */
interface Running {
  ledger: Ledger;
  health: HealthTracker;
  live: LiveConfig;
  control: Pick<ControlPlane, 'onEvent'>;
  admission: Admission;
  sharedCounts(): SharedCountsView | null;
}

/** Resolves once the present settings are in force. */
export async function followSettings(observability: Observability, running: Running): Promise<void> {
  const { live } = running;
  const engine = observedIn(running);
  live.onChange(({ after }) => void observability.follow(after.settings, engine));
  await observability.follow(live.used.config.settings, engine);
}

function observedIn({ ledger, health, live, control, admission, sharedCounts }: Running): Observed {
  const views = createHealthViews(health, Date.now);
  return {
    onEvent: (listener) => control.onEvent(listener),
    figures() {
      const counts = sharedCounts();
      const { pending, dropped } = ledger.health();
      return {
        running: admission.running,
        waiting: admission.waiting,
        ledgerPending: pending,
        ledgerDropped: dropped,
        unauthenticated: ledger.refusals.unauthenticated,
        sharedCounts: counts && { isUp: counts.problem === null, replicas: counts.replicas },
        providers: [...live.snapshot.providers.values()].map((provider) => ({
          id: provider.id,
          state: views.provider(provider).state,
        })),
      };
    },
  };
}
