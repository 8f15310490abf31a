/** OpenTelemetry through its own SDK. Loaded only if an endpoint is set. Nothing is registered globally. */
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { RequestRecord } from '../contract/ledger.ts';
import type { TelemetrySettings } from '../contract/observability.ts';
import { after } from '../ground/timers.ts';
import type { Transport } from '../transport/transport.ts';
import { type ServiceNames, schemaUrls } from './gen-ai.ts';
import { createGenAiMetrics } from './gen-ai-metrics.ts';
import { OtlpExporter, type OtlpTarget } from './otlp-exporter.ts';
import { createRequestTracer } from './request-spans.ts';
import type { RequestTracer } from './request-tracing.ts';

export interface Telemetry {
  /** Null if traces are switched off. */
  readonly tracer: RequestTracer | null;
  /** Counts a finished request. */
  finished(record: RequestRecord): void;
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
const spansEveryMs = 5_000;
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
        exporter: new OtlpExporter(targetOf(options, 'traces'), isJson ? JsonTraceSerializer : ProtobufTraceSerializer),
        scheduledDelayMillis: everyMs ?? spansEveryMs,
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
  return {
    tracer,
    finished(record) {
      count?.(record);
      if (record.usage !== null && !isInSpans(record)) tracer?.billed(record);
    },
    async stop() {
      const stopping = Promise.allSettled([spans.shutdown(), metrics?.shutdown()]);
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

function targetOf({ settings, transport, failed }: TelemetryOptions, signal: 'traces' | 'metrics'): OtlpTarget {
  return {
    transport,
    url: `${settings.endpoint}${settings.endpoint.endsWith('/') ? '' : '/'}v1/${signal}`,
    headers: Object.fromEntries(Object.entries(settings.headers).map(([name, value]) => [name.toLowerCase(), value])),
    contentType: settings.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
    failed,
  };
}
