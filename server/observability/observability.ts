/**
 * Exports data to other tools, as configured: metrics for Prometheus, traces, metrics and the audit list for OpenTelemetry, webhooks.
 * What is switched off is not even loaded, and costs each request one comparison.
 */

import type { EventMessage } from '../contract/events.ts';
import type { RequestRecord } from '../contract/ledger.ts';
import { isReference, isToolUrl, type WebhookSettings } from '../contract/observability.ts';
import type { Settings } from '../contract/settings.ts';
import { createSerialQueue } from '../ground/promises.ts';
import { resolveSecret } from '../secrets/secret-store.ts';
import type { Transport } from '../transport/transport.ts';
import type { ServiceNames } from './gen-ai.ts';
import type { EngineFigures, Metrics } from './prometheus.ts';
import type { RequestTracer } from './request-tracing.ts';
import type { AuditedEntry, Telemetry } from './telemetry.ts';
import type { Webhook, Webhooks } from './webhooks.ts';

interface ObservabilityPorts {
  version: string;
  instanceId: string;
  transport: Transport;
  /** For `env:NAME` references. */
  env: Readonly<Record<string, string | undefined>>;
  /** The conventions' names of a configured provider's service: see `gen-ai.ts`. */
  service(id: string): ServiceNames;
  log: { warn(fields: object, message: string): void };
}

/** The engine that is observed. */
export interface Observed {
  figures(): EngineFigures;
  /** Subscribes to the control plane's events. Returns the unsubscribe function. */
  onEvent(listener: (message: EventMessage) => void): () => void;
}

export class Observability {
  readonly #ports: ObservabilityPorts;
  readonly #inTurn = createSerialQueue();
  #metrics: Metrics | null = null;
  #metricsToken: string | null = null;
  #telemetry: Telemetry | null = null;
  /** The settings with which `#telemetry` was started, with the secrets to which they refer. */
  #telemetryIsFor = '';
  #webhooksAreFor = '';
  #stopWebhooks: () => void = () => {};

  constructor(ports: ObservabilityPorts) {
    this.#ports = ports;
  }

  /** Null while they are switched off. */
  get metrics(): Metrics | null {
    return this.#metrics;
  }

  /** The token that may only read the metrics; null if there is none. */
  get metricsToken(): string | null {
    return this.#metricsToken;
  }

  /** Null while traces are switched off. */
  get tracer(): RequestTracer | null {
    return this.#telemetry === null ? null : this.#telemetry.tracer;
  }

  /** Resolves once the settings are in force. Never rejects: anything unusable is logged and stays off. */
  follow(settings: Settings, engine: Observed): Promise<void> {
    return this.#inTurn(async () => {
      await this.#followMetrics(settings, engine);
      await this.#followTelemetry(settings, engine);
      await this.#followWebhooks(settings, engine);
    });
  }

  finished(record: RequestRecord): void {
    if (this.#metrics !== null) this.#metrics.finished(record);
    if (this.#telemetry !== null) this.#telemetry.finished(record);
  }

  /** An entry of the audit list is stored. */
  audited(entry: AuditedEntry): void {
    if (this.#telemetry !== null) this.#telemetry.audited(entry);
  }

  /** Sends pending data. */
  async close(): Promise<void> {
    await this.#inTurn(async () => {
      this.#stopWebhooks();
      await this.#telemetry?.stop();
      this.#telemetry = null;
    });
  }

  async #followMetrics({ metrics, metricsToken }: Settings, engine: Observed): Promise<void> {
    const isOn = metrics === 'on';
    this.#metricsToken = isOn && metricsToken ? await this.#secret('metricsToken', metricsToken) : null;
    if (!isOn) this.#metrics = null;
    else if (this.#metrics === null) {
      const { createMetrics } = await import('./prometheus.ts');
      this.#metrics = createMetrics({ ...this.#ports, ...engine });
    }
  }

  async #followTelemetry({ telemetry: settings }: Settings, engine: Observed): Promise<void> {
    const { endpoint } = settings;
    const isOn = endpoint !== null && (settings.traces || settings.metrics || settings.audit);
    const headers = isOn ? await this.#headers(settings.headers) : {};
    const settingsText = JSON.stringify({ ...settings, headers });
    if (settingsText === this.#telemetryIsFor) return;
    this.#telemetryIsFor = settingsText;
    const previous = this.#telemetry;
    this.#telemetry = null;
    // The last export may take a while, which must not delay the rest.
    void previous?.stop();
    if (!isOn) return;
    const { startTelemetry } = await import('./telemetry.ts');
    const failed = (url: string, reason: string) =>
      this.#ports.log.warn({ url, reason }, 'telemetry could not be sent');
    this.#telemetry = startTelemetry({
      ...this.#ports,
      ...engine,
      settings: { ...settings, endpoint, headers },
      failed,
    });
  }

  async #followWebhooks({ webhooks: settings }: Settings, engine: Observed): Promise<void> {
    const usable: Webhook[] = [];
    for (const each of settings) {
      const webhook = await this.#webhook(each);
      if (webhook) usable.push(webhook);
    }
    const wanted = JSON.stringify(usable);
    if (wanted === this.#webhooksAreFor) return;
    this.#webhooksAreFor = wanted;
    this.#stopWebhooks();
    this.#stopWebhooks = () => {};
    if (usable.length === 0) return;
    const { startWebhooks } = await import('./webhooks.ts');
    const webhooks: Webhooks = startWebhooks(usable, this.#ports);
    const unsubscribe = engine.onEvent(({ event }) => webhooks.onEvent(event));
    this.#stopWebhooks = () => {
      unsubscribe();
      webhooks.stop();
    };
  }

  /** Null if its address or secret is missing, because a delivery without its signature would be refused. */
  async #webhook({ url: address, events, secret: reference }: WebhookSettings): Promise<Webhook | null> {
    const url = isReference(address) ? await this.#secret('webhooks.url', address) : address;
    const secret = reference === undefined ? null : await this.#secret('webhooks.secret', reference);
    if (url === null || (reference !== undefined && secret === null)) return null;
    if (isToolUrl(url)) return { url, events, secret };
    this.#ports.log.warn({ reference: address }, 'the address of a webhook cannot be used');
    return null;
  }

  /** The headers with references resolved. Headers whose secret is missing are omitted. */
  async #headers(configured: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(configured)) {
      const headerValue = isReference(value) ? await this.#secret(`telemetry.headers.${name}`, value) : value;
      if (headerValue !== null) headers[name] = headerValue;
    }
    return headers;
  }

  /** Null if the secret is missing. */
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
