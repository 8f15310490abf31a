/**
 * What Sluice tells other tools, as the settings say: metrics for Prometheus. What is switched off is not even loaded, and
 * costs each request one comparison.
 */
import type { RequestRecord } from '../contract/ledger.ts';
import type { Settings } from '../contract/settings.ts';
import { resolveSecret } from '../secrets/resolve-secret.ts';
import { createSerialQueue } from '../serial-queue.ts';
import type { EngineFigures } from './engine-figures.ts';
import type { Metrics } from './prometheus.ts';

export interface ObservabilityPorts {
  version: string;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  figures(): EngineFigures;
  log: { warn(fields: object, message: string): void };
}

export class Observability {
  readonly #ports: ObservabilityPorts;
  readonly #inTurn = createSerialQueue();
  #metrics: Metrics | null = null;
  #metricsToken: string | null = null;

  constructor(ports: ObservabilityPorts) {
    this.#ports = ports;
  }

  /** Null while they are switched off. */
  get metrics(): Metrics | null {
    return this.#metrics;
  }

  /** Of those who may only read the metrics; null: there is none. */
  get metricsToken(): string | null {
    return this.#metricsToken;
  }

  /** Resolves once the settings are in force. Never rejects: what cannot be used is logged, and stays off. */
  follow(settings: Settings): Promise<void> {
    return this.#inTurn(async () => {
      await this.#followMetrics(settings);
    });
  }

  finished(record: RequestRecord): void {
    if (this.#metrics !== null) this.#metrics.finished(record);
  }

  async #followMetrics({ metrics, metricsToken }: Settings): Promise<void> {
    const isOn = metrics === 'on';
    this.#metricsToken = isOn && metricsToken ? await this.#secret('metricsToken', metricsToken) : null;
    if (!isOn) this.#metrics = null;
    else if (this.#metrics === null) {
      const { createMetrics } = await import('./prometheus.ts');
      this.#metrics = createMetrics(this.#ports);
    }
  }

  /** Null if it is missing. */
  async #secret(setting: string, reference: string): Promise<string | null> {
    const { env, log } = this.#ports;
    try {
      const value = await resolveSecret(reference, { name: setting, store: { get: async () => undefined }, env });
      if (value !== undefined) return value;
      log.warn({ setting, reference }, 'the secret of a setting is missing');
    } catch (error) {
      log.warn({ setting, error }, 'the secret of a setting could not be read');
    }
    return null;
  }
}
