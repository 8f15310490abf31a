/** The metrics at `/metrics`, using Prometheus' own client library. Loaded only if they are switched on. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Counting, countOf, verdictOf } from '../contract/count.ts';
import type { AttemptRecord, RequestRecord, Usage } from '../contract/ledger.ts';
import type { ProviderHealthView } from '../contract/provider-views.ts';
import { secondMs } from '../contract/units.ts';

export interface Metrics {
  readonly contentType: string;
  /** Counts a finished request. */
  finished(record: RequestRecord): void;
  /** The metrics in Prometheus' text format. */
  text(): Promise<string>;
}

interface MetricsPorts {
  version: string;
  figures(): EngineFigures;
}

/** Maximum number of distinct combinations of group, provider and model: see `LabelSets`. */
const maxSeries = 300;

const series = ['group', 'provider', 'model'] as const;
const firstByteBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const durationBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const speedBuckets = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000];

const tokenTypes: readonly (readonly [type: string, read: (usage: Usage) => number | undefined])[] = [
  ['input', (usage) => usage.inputTokens],
  ['output', (usage) => usage.outputTokens],
  ['cached_input', (usage) => usage.cachedInputTokens],
  ['cache_write', (usage) => usage.cacheWriteTokens],
  ['reasoning', (usage) => usage.reasoningTokens],
];

export function createMetrics(ports: MetricsPorts): Metrics {
  const registry = new Registry();
  const requests = new RequestMetrics(registry);
  const engine = engineGauges(registry, ports);
  return {
    contentType: registry.contentType,
    finished: (record) => requests.finished(record),
    text() {
      engine.update();
      return registry.metrics();
    },
  };
}

class RequestMetrics {
  readonly #sets = new LabelSets(maxSeries);
  readonly #requests;
  readonly #attempts;
  readonly #tokens;
  readonly #cost;
  readonly #unpriced;
  readonly #firstByte;
  readonly #duration;
  readonly #speed;

  constructor(registry: Registry) {
    const registers = [registry];
    const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers });
    const histogram = (name: string, help: string, buckets: number[]) =>
      new Histogram({ name, help, labelNames: series, buckets, registers });
    this.#requests = counter(
      'sluice_requests_total',
      'Requests that have ended, by how they ended; "fault": with an error that was switched on.',
      [...series, 'outcome'],
    );
    this.#attempts = counter(
      'sluice_attempts_total',
      'Calls to providers: "ok", or the class of the failure. A request may need several.',
      ['provider', 'outcome'],
    );
    this.#tokens = counter(
      'sluice_tokens_total',
      'Tokens of all attempts and of jobs. "input" includes "cached_input" and "cache_write"; "output" includes "reasoning".',
      [...series, 'type'],
    );
    this.#cost = counter('sluice_cost_usd_total', 'Known cost of all attempts and of jobs, in US dollars.', series);
    this.#unpriced = counter(
      'sluice_unpriced_requests_total',
      'Requests that may have cost something of which no price is known.',
      series,
    );
    this.#firstByte = histogram(
      'sluice_first_byte_seconds',
      'From an attempt’s start to its first byte.',
      firstByteBuckets,
    );
    this.#duration = histogram(
      'sluice_request_duration_seconds',
      'From request to complete response.',
      durationBuckets,
    );
    this.#speed = histogram(
      'sluice_output_tokens_per_second',
      'Output tokens of a streamed answer per second after its first content.',
      speedBuckets,
    );
  }

  finished(record: RequestRecord): void {
    const { whole, parts } = countOf(record);
    const labels = this.#labelsOf(record, whole);
    this.#requests.inc({ ...labels, outcome: verdictOf(record) });
    if (whole.isUnpriced) this.#unpriced.inc(labels);
    this.#duration.observe(labels, record.totalMs / secondMs);
    for (const attempt of record.attempts) this.#attempted(record, attempt);
    for (const part of parts) this.#countUsage(this.#labelsOf(record, part), part);
  }

  #labelsOf({ groupId }: RequestRecord, { provider, model }: Pick<Counting, 'provider' | 'model'>): SeriesLabels {
    return this.#sets.of(groupId, provider, model);
  }

  #attempted(record: RequestRecord, attempt: AttemptRecord): void {
    const labels = this.#labelsOf(record, attempt);
    this.#attempts.inc({ provider: labels.provider, outcome: attempt.failure ?? 'ok' });
    if (attempt.firstByteMs !== null) this.#firstByte.observe(labels, attempt.firstByteMs / secondMs);
    const speed = record.stream ? outputTokensPerSecond(attempt) : null;
    if (speed !== null) this.#speed.observe(labels, speed);
  }

  #countUsage(labels: SeriesLabels, { usage, costUsd }: Pick<Counting, 'usage' | 'costUsd'>): void {
    if (costUsd) this.#cost.inc(labels, costUsd);
    if (usage === null) return;
    for (const [type, read] of tokenTypes) {
      const count = read(usage);
      if (count) this.#tokens.inc({ ...labels, type }, count);
    }
  }
}

const providerStates: readonly EngineFigures['providers'][number]['state'][] = ['ok', 'degraded', 'cooling', 'refused'];

/** Gauges that are read at each scrape. */
function engineGauges(registry: Registry, { figures, version }: MetricsPorts): { update(): void } {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const total = (name: string, help: string) => new Counter({ name, help, registers });
  const set = (counter: Counter, value: number) => {
    counter.reset();
    counter.inc(value);
  };
  const running = gauge('sluice_requests_running', 'Requests that run now.');
  const waitingRequests = gauge('sluice_requests_waiting', 'Requests that wait to be admitted.');
  const pending = gauge('sluice_ledger_rows_waiting', 'Rows of the ledger that are not written yet.');
  const droppedRows = total('sluice_ledger_rows_dropped_total', 'Rows of the ledger that were lost.');
  const refusedRequests = total('sluice_unauthenticated_requests_total', 'Requests without a valid key.');
  const states = new Gauge({
    name: 'sluice_provider_state',
    help: '1 for the present state of a provider: ok, degraded, cooling or refused.',
    labelNames: ['provider', 'state'],
    registers,
  });
  // Only if there is something to report.
  let countsUp: Gauge | undefined;
  let replicas: Gauge | undefined;
  const cpu = total('process_cpu_seconds_total', 'Processor time of this process, in seconds.');
  const memory = gauge('process_resident_memory_bytes', 'Resident memory of this process.');
  const started = gauge('process_start_time_seconds', 'When this process began, in Unix seconds.');
  started.set(Math.round(Date.now() / secondMs - process.uptime()));
  new Gauge({ name: 'sluice_build_info', help: 'Always 1.', labelNames: ['version'], registers }).set({ version }, 1);
  return {
    update() {
      const now = figures();
      running.set(now.running);
      waitingRequests.set(now.waiting);
      pending.set(now.ledgerPending);
      set(droppedRows, now.ledgerDropped);
      set(refusedRequests, now.unauthenticated);
      if (now.sharedCounts) {
        countsUp ??= gauge('sluice_shared_counts_up', 'Whether limits are counted together with other replicas.');
        replicas ??= gauge('sluice_replicas', 'Replicas last seen, with this one.');
        countsUp.set(now.sharedCounts.isUp ? 1 : 0);
        replicas.set(now.sharedCounts.replicas);
      }
      states.reset();
      for (const { id: provider, state: present } of now.providers) {
        for (const state of providerStates) states.set({ provider, state }, state === present ? 1 : 0);
      }
      const { user, system } = process.cpuUsage();
      set(cpu, (user + system) / 1e6);
      memory.set(process.memoryUsage.rss());
    },
  };
}

/** The labels of a time series, besides closed sets such as an outcome. */
type SeriesLabels = Readonly<Record<'group' | 'provider' | 'model', string>>;

/** Replaces names beyond the limit. */
const otherLabel = 'other';
/** Used if a request has no group, reached no provider, or names no model. */
const noLabel = 'none';

/**
 * Bounds the number of time series, because clients choose the names of models. The first `limit` combinations of
 * group, provider and model are distinguished. After that, a new combination is counted without its model; once there
 * are `limit` of these as well, all new ones are counted as `other`.
 */
class LabelSets {
  readonly #limit: number;
  readonly #complete = new Map<string, SeriesLabels>();
  readonly #withoutModel = new Map<string, SeriesLabels>();
  readonly #others: SeriesLabels = { group: otherLabel, provider: otherLabel, model: otherLabel };

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(group: string | null, provider: string | null, model: string | null): SeriesLabels {
    const labels = { group: group ?? noLabel, provider: provider ?? noLabel, model: model ?? noLabel };
    return (
      this.#recorded(this.#complete, labels) ??
      this.#recorded(this.#withoutModel, { ...labels, model: otherLabel }) ??
      this.#others
    );
  }

  #recorded(sets: Map<string, SeriesLabels>, labels: SeriesLabels): SeriesLabels | undefined {
    const name = `${labels.group}\n${labels.provider}\n${labels.model}`;
    const existing = sets.get(name);
    if (existing || sets.size >= this.#limit) return existing;
    sets.set(name, labels);
    return labels;
  }
}

/** Shorter streams arrived in a single piece, so their duration says nothing about the model. */
const minMs = 50;

/** Output tokens per second between the first content and the end of a streamed attempt; null if unknown. */
function outputTokensPerSecond({ usage, firstContentMs, totalMs }: AttemptRecord): number | null {
  if (!usage?.outputTokens || firstContentMs === null || totalMs === null) return null;
  const ms = totalMs - firstContentMs;
  return ms < minMs ? null : (usage.outputTokens / ms) * 1_000;
}

/** The state of the engine at the moment of a scrape. */
export interface EngineFigures {
  /** Requests that are running, and requests that wait for admission. */
  running: number;
  waiting: number;
  /** Rows of the ledger that wait to be written, and rows that were lost since the start. */
  ledgerPending: number;
  ledgerDropped: number;
  /** Requests without a valid key since the start. */
  unauthenticated: number;
  /** Null if limits are not counted together with other replicas. */
  sharedCounts: { isUp: boolean; replicas: number } | null;
  providers: readonly { id: string; state: ProviderHealthView['state'] }[];
}
