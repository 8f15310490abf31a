/** Connects metrics, telemetry and webhooks with the parts of a gateway. */
import type { LiveConfig } from './control/live-config.ts';
import { createHealthViews } from './control/view-health.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import type { Admission } from './http/admission.ts';
import type { Ledger } from './ledger/ledger.ts';
import { Observability } from './observability/observability.ts';
import type { HealthBook } from './routing/health/health-book.ts';
import { version } from './version.ts';

interface Foundations {
  ledger: Ledger;
  health: HealthBook;
}

/** Of a gateway that is complete. */
interface Running {
  live: LiveConfig;
  admission: Admission;
}

export function openObservability(
  { env, log }: GatewayPorts,
  { ledger, health }: Foundations,
  running: () => Running,
): Observability {
  const views = createHealthViews(health, Date.now);
  return new Observability({
    version,
    env,
    log,
    figures() {
      const { live, admission } = running();
      const { pending, dropped } = ledger.health();
      return {
        running: admission.running,
        waiting: admission.waiting,
        ledgerPending: pending,
        ledgerDropped: dropped,
        unauthenticated: ledger.refusals.count,
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
