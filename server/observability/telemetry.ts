/** OpenTelemetry through its own SDK. Loaded only if an endpoint is set. Nothing is registered globally. */

import { setTimeout as wait } from 'node:timers/promises';
import { type Attributes, type Meter, SeverityNumber } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import {
  type ISerializer,
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { type Counting, countOf } from '../contract/count.ts';
import type { RequestRecord, Usage } from '../contract/ledger.ts';
import type { TelemetrySettings } from '../contract/observability.ts';
import type { AuditEntry } from '../contract/people-views.ts';
import { after } from '../ground/timers.ts';
import { readResponse } from '../transport/fetch.ts';
import type { Transport } from '../transport/transport.ts';
import { type Conventions, operationName, type ServiceNames, schemaUrls, serviceAttributes } from './gen-ai.ts';
import { createRequestTracer, writingDoubles } from './request-spans.ts';
import type { RequestTracer } from './request-tracing.ts';

export type AuditedEntry = Omit<AuditEntry, 'seq'>;

export interface Telemetry {
  /** Null if traces are switched off. */
  readonly tracer: RequestTracer | null;
  /** Counts a finished request. */
  finished(record: RequestRecord): void;
  /** Sends an entry of the audit list, if that is switched on. */
  audited(entry: AuditedEntry): void;
  /** Sends pending data, waiting at most two seconds for that. */
  stop(): Promise<void>;
}

interface TelemetryOptions {
  /** Includes the endpoint and the resolved values of secret headers. */
  settings: TelemetrySettings & { endpoint: string };
  version: string;
  instanceId: string;
  transport: Transport;
  service(id: string): ServiceNames;
  failed: OtlpTarget['failed'];
  /** Milliseconds between exports; for tests. */
  everyMs?: number;
}

const metricsEveryMs = 60_000;
const batchEveryMs = 5_000;
const exportTimeoutMs = 30_000;
const maxWaitMs = 2_000;

export function startTelemetry(options: TelemetryOptions): Telemetry {
  const { settings, version, service, everyMs } = options;
  const { conventions } = settings;
  const scope = { schemaUrl: schemaUrls[conventions] };
  const resource = resourceFromAttributes({
    'service.name': 'sluice',
    'service.version': version,
    'service.instance.id': options.instanceId,
  });
  const isJson = settings.protocol === 'http/json';
  const spans = new TracerProvider({
    resource,
    // If a client does not sample its trace, the spans below it are not recorded either.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OtlpExporter(
          targetOf(options, 'traces'),
          writingDoubles(isJson ? JsonTraceSerializer : ProtobufTraceSerializer, isJson),
        ),
        scheduledDelayMillis: everyMs ?? batchEveryMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  const metrics = settings.metrics
    ? new MeterProvider({
        resource,
        readers: [
          new PeriodicExportingMetricReader({
            exporter: new OtlpExporter(
              targetOf(options, 'metrics'),
              isJson ? JsonMetricsSerializer : ProtobufMetricsSerializer,
            ),
            exportIntervalMillis: everyMs ?? metricsEveryMs,
            exportTimeoutMillis: everyMs ?? exportTimeoutMs,
          }),
        ],
      })
    : null;
  const count = metrics ? createGenAiMetrics(metrics.getMeter('sluice', version, scope), service, conventions) : null;
  const tracer = settings.traces
    ? createRequestTracer({ tracer: spans.getTracer('sluice', version, scope), service, conventions })
    : null;
  const logs = settings.audit ? createAuditLogs(options, resource) : null;
  return {
    tracer,
    audited: (entry) => logs?.audited(entry),
    finished(record) {
      count?.(record);
      if (record.usage !== null && !isInSpans(record)) tracer?.billed(record);
    },
    async stop() {
      const stopping = Promise.allSettled([spans.shutdown(), metrics?.shutdown(), logs?.shutdown()]);
      const { promise: tooLong, resolve } = Promise.withResolvers<void>();
      const timer = after(resolve, maxWaitMs);
      await Promise.race([stopping, tooLong]);
      clearTimeout(timer);
    },
  };
}

/**
 * Whether the usage is that of attempts, which have spans. A job's bill is in its row alone, whoever asked for it, and the
 * responses of a realtime session are no requests of HTTP.
 */
function isInSpans({ capability, attempts }: RequestRecord): boolean {
  return capability !== 'realtime' && attempts.some(({ usage }) => usage !== null);
}

function targetOf(
  { settings, transport, failed }: TelemetryOptions,
  signal: 'traces' | 'metrics' | 'logs',
): OtlpTarget {
  return {
    transport,
    url: `${settings.endpoint}${settings.endpoint.endsWith('/') ? '' : '/'}v1/${signal}`,
    headers: Object.fromEntries(Object.entries(settings.headers).map(([name, value]) => [name.toLowerCase(), value])),
    contentType: settings.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
    failed,
  };
}

/** Longer entries are sent without their changes, which an import of a large configuration may have many of. */
const mostEntryChars = 64 * 1024;

function createAuditLogs(options: TelemetryOptions, resource: Resource) {
  const { settings, version, everyMs } = options;
  const serializer = settings.protocol === 'http/json' ? JsonLogsSerializer : ProtobufLogsSerializer;
  const provider = new LoggerProvider({
    resource,
    processors: [
      new BatchLogRecordProcessor({
        exporter: new OtlpExporter(targetOf(options, 'logs'), serializer),
        scheduledDelayMillis: everyMs ?? batchEveryMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  const logger = provider.getLogger('sluice', version);
  return {
    audited(entry: AuditedEntry) {
      const { at, personId, personName, tokenId, address, action, target } = entry;
      const text = JSON.stringify(entry);
      logger.emit({
        eventName: 'sluice.audit',
        timestamp: at,
        severityNumber: SeverityNumber.INFO,
        body: text.length <= mostEntryChars ? text : JSON.stringify({ ...entry, changes: null }),
        attributes: {
          'sluice.audit.action': action,
          ...(target !== null && { 'sluice.audit.target': target }),
          ...(tokenId !== null && { 'sluice.audit.token': tokenId }),
          ...(personId !== null && { 'user.id': personId }),
          ...(personName !== null && { 'user.full_name': personName }),
          ...(address !== null && { 'client.address': address }),
        },
      });
    },
    shutdown: () => provider.shutdown(),
  };
}

/** The bucket boundaries that the conventions recommend for each metric. */
const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokenBounds = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const firstTokenBounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

type Histogram = ReturnType<Meter['createHistogram']>;

/** The instruments of one kind of operation. */
interface Instruments {
  duration: Histogram;
  /** Absent where the conventions have none. */
  firstChunk?: Histogram;
  /** Called for each bill. */
  tokens(usage: Usage, labels: Attributes): void;
}

/** Records the attempts of a finished request according to OpenTelemetry's conventions for generative AI. */
function createGenAiMetrics(
  meter: Meter,
  service: (id: string) => ServiceNames,
  conventions: Conventions,
): (record: RequestRecord) => void {
  const instrumentsOf = conventions === 'current' ? currentInstruments(meter) : formerInstruments(meter);
  const labelsOf = ({ capability }: RequestRecord, { provider, model }: Pick<Counting, 'provider' | 'model'>) => ({
    'gen_ai.operation.name': operationName(capability),
    ...(provider !== null && serviceAttributes(service(provider))),
    ...(model !== null && { 'gen_ai.request.model': model }),
  });
  return (record) => {
    const { duration, firstChunk, tokens } = instrumentsOf(record);
    for (const attempt of record.attempts) {
      const { failure, firstContentMs, totalMs } = attempt;
      const labels: Attributes = labelsOf(record, attempt);
      if (totalMs !== null) duration.record(totalMs / 1_000, failure ? { ...labels, 'error.type': failure } : labels);
      if (firstContentMs !== null && failure === null) firstChunk?.record(firstContentMs / 1_000, labels);
    }
    for (const part of countOf(record).parts) if (part.usage) tokens(part.usage, labelsOf(record, part));
  };
}

/** Those of embeddings, and those of everything else, which is inference. */
function currentInstruments(meter: Meter): (record: RequestRecord) => Instruments {
  const inference = 'gen_ai.client.inference';
  const counted = {
    inputTokens: 'input_tokens',
    outputTokens: 'output_tokens',
    cachedInputTokens: 'cache_read.input_tokens',
    cacheWriteTokens: 'cache_write.input_tokens',
    reasoningTokens: 'reasoning.output_tokens',
  } as const satisfies Partial<Record<keyof Usage, string>>;
  const counters = Object.entries(counted).map(([field, name]) => {
    const counter = meter.createCounter(`${inference}.usage.${name}`, { unit: '{token}', description: 'Tokens used.' });
    return [field as keyof typeof counted, counter] as const;
  });
  const input = histogramIn(meter, `${inference}.operation.input_tokens`, '{token}', tokenBounds);
  const output = histogramIn(meter, `${inference}.operation.output_tokens`, '{token}', tokenBounds);
  const ofInference: Instruments = {
    duration: histogramIn(meter, `${inference}.duration`, 's', durationBounds),
    firstChunk: histogramIn(meter, `${inference}.time_to_first_chunk`, 's', firstTokenBounds),
    tokens(usage, labels) {
      for (const [field, counter] of counters) {
        const count = usage[field];
        if (count !== undefined) counter.add(count, labels);
      }
      if (usage.inputTokens !== undefined) input.record(usage.inputTokens, labels);
      if (usage.outputTokens !== undefined) output.record(usage.outputTokens, labels);
    },
  };
  const embedded = histogramIn(meter, 'gen_ai.client.embeddings.operation.input_tokens', '{token}', tokenBounds);
  const ofEmbeddings: Instruments = {
    duration: histogramIn(meter, 'gen_ai.client.embeddings.duration', 's', durationBounds),
    tokens({ inputTokens }, labels) {
      if (inputTokens !== undefined) embedded.record(inputTokens, labels);
    },
  };
  return ({ capability }) => (capability === 'embeddings' ? ofEmbeddings : ofInference);
}

/** Of 1.41. */
function formerInstruments(meter: Meter): (record: RequestRecord) => Instruments {
  const used = histogramIn(meter, 'gen_ai.client.token.usage', '{token}', tokenBounds);
  const ofAll: Instruments = {
    duration: histogramIn(meter, 'gen_ai.client.operation.duration', 's', durationBounds),
    firstChunk: histogramIn(meter, 'gen_ai.server.time_to_first_token', 's', firstTokenBounds),
    tokens({ inputTokens, outputTokens }, labels) {
      if (inputTokens !== undefined) used.record(inputTokens, { ...labels, 'gen_ai.token.type': 'input' });
      if (outputTokens !== undefined) used.record(outputTokens, { ...labels, 'gen_ai.token.type': 'output' });
    },
  };
  return () => ofAll;
}

function histogramIn(meter: Meter, name: string, unit: string, bounds: number[]): Histogram {
  return meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries: bounds } });
}

interface OtlpTarget {
  transport: Transport;
  /** Includes the signal's path, such as `http://127.0.0.1:4318/v1/traces`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  contentType: 'application/json' | 'application/x-protobuf';
  /** Waits before each retry, in milliseconds. */
  retryDelaysMs?: readonly number[];
  /** Reports a failure once, and again only after a success. */
  failed(url: string, reason: string): void;
}

const timeouts = { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 15_000 };
const maxAnswerBytes = 64 * 1024;
/** See the OTLP specification, "Retryable Response Codes". */
const retryable = new Set([429, 502, 503, 504]);
const usualDelaysMs = [1_000, 5_000];

/**
 * Sends the data of OpenTelemetry's SDK to an OTLP/HTTP endpoint, over Sluice's own transport, including proxies.
 *
 * One instance per signal. `Item` is the type that the SDK's processor or reader passes.
 */
export class OtlpExporter<Item> {
  readonly #target: OtlpTarget;
  readonly #serializer: Pick<ISerializer<Item, unknown>, 'serializeRequest'>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #isFailing = false;

  constructor(target: OtlpTarget, serializer: Pick<ISerializer<Item, unknown>, 'serializeRequest'>) {
    this.#target = target;
    this.#serializer = serializer;
  }

  export(items: Item, done: (result: ExportResult) => void): void {
    const sending = this.#send(items).then(
      () => {
        this.#isFailing = false;
        done({ code: ExportResultCode.SUCCESS });
      },
      (thrown: unknown) => {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        if (!this.#isFailing) this.#target.failed(this.#target.url, error.message);
        this.#isFailing = true;
        done({ code: ExportResultCode.FAILED, error });
      },
    );
    this.#running.add(sending);
    void sending.finally(() => this.#running.delete(sending));
  }

  async forceFlush(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Finishes running exports; nothing is retried. */
  async shutdown(): Promise<void> {
    this.#stopping.abort();
    await this.forceFlush();
  }

  async #send(items: Item): Promise<void> {
    const body = this.#serializer.serializeRequest(items);
    if (!body) return;
    const { retryDelaysMs = usualDelaysMs } = this.#target;
    for (const delayMs of retryDelaysMs) {
      const outcome = await this.#post(body).catch((error: unknown) => ({ error, mayRetry: true }));
      if (outcome === null) return;
      if (!outcome.mayRetry || this.#stopping.signal.aborted) throw outcome.error;
      const { signal } = this.#stopping;
      await wait(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    const last = await this.#post(body);
    if (last !== null) throw last.error;
  }

  /** Null if accepted. Rejects with a TransportError. */
  async #post(body: Uint8Array): Promise<{ error: Error; mayRetry: boolean } | null> {
    const { transport, url, headers, contentType } = this.#target;
    const { origin, pathname } = new URL(url);
    const request = {
      origin,
      method: 'POST',
      path: pathname,
      headers: { ...headers, 'content-type': contentType, 'content-length': String(body.length) },
      body: Buffer.from(body),
      timeouts,
      proxy: 'system',
    };
    const { status } = await readResponse(transport, request, maxAnswerBytes);
    if (status >= 200 && status < 300) return null;
    return { error: new Error(`the collector answered with status ${status}`), mayRetry: retryable.has(status) };
  }
}
