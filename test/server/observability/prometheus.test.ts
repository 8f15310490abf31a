import { expect, test } from 'vitest';
import { createMetrics } from '../../../server/observability/prometheus.ts';
import { UsageSums } from '../../../server/store/sqlite/derived-rows.ts';
import { readPrometheusText } from '../../support/prometheus-text.ts';
import { attemptRecord } from '../../support/stand-ins.ts';
import { finishedRow, rescuedRow } from '../store/sqlite/records.ts';

const figures = () => ({
  running: 0,
  waiting: 0,
  ledgerPending: 0,
  ledgerDropped: 0,
  unauthenticated: 0,
  sharedCounts: null,
  providers: [],
});

const attempt = attemptRecord({ firstContentMs: 1_000, totalMs: 3_000, usage: { outputTokens: 80 } });

test.each([
  ['is measured from the first content of a stream', { stream: true, attempts: [attempt] }, [1, 40]],
  ['is not measured where nothing is streamed', { stream: false, attempts: [attempt] }, []],
  ['is not measured for a stream in one piece', { stream: true, attempts: [{ ...attempt, totalMs: 1_010 }] }, []],
  ['is not measured without usage', { stream: true, attempts: [{ ...attempt, usage: null }] }, []],
])('output speed %s', async (_, more, expected) => {
  const metrics = createMetrics({ version: '1', figures });
  metrics.finished(finishedRow('req_1', more));
  const samples = readPrometheusText(await metrics.text()).get('sluice_output_tokens_per_second')?.samples ?? [];
  const found = ['_count', '_sum'].flatMap((suffix) =>
    samples.filter(({ name }) => name.endsWith(suffix)).map(({ value }) => value),
  );
  expect(found).toEqual(expected);
});

test('usage of a job, which belongs to no attempt, is counted with the request that found it', async () => {
  const metrics = createMetrics({ version: '1', figures });
  metrics.finished(finishedRow('req_1', { attempts: [attemptRecord()], usage: { inputTokens: 7 }, costUsd: 0.5 }));
  const families = readPrometheusText(await metrics.text());
  expect(families.get('sluice_tokens_total')?.samples.map(({ value }) => value)).toEqual([7]);
  expect(families.get('sluice_cost_usd_total')?.samples.map(({ value }) => value)).toEqual([0.5]);
});

test('whether replicas count together is told only where they do', async () => {
  const alone = readPrometheusText(await createMetrics({ version: '1', figures }).text());
  expect([...alone.keys()].filter((name) => /shared|replicas/.test(name))).toEqual([]);
  const away = () => ({ ...figures(), sharedCounts: { isUp: false, replicas: 3 } });
  const families = readPrometheusText(await createMetrics({ version: '1', figures: away }).text());
  const valuesOf = (name: string) => families.get(name)?.samples.map(({ value }) => value);
  expect([valuesOf('sluice_shared_counts_up'), valuesOf('sluice_replicas')]).toEqual([[0], [3]]);
});

/** Rows of every kind that the ledger counts in a way of its own. */
const counted = [
  finishedRow('req_flat', { attempts: [attemptRecord({ costUsd: 0.01 })], usage: null, costUsd: 0.01 }),
  rescuedRow('req_rescued'),
  finishedRow('req_bill', {
    ...{ method: 'GET', attempts: [], provider: 'main', modelServed: null, modelAsked: 'm' },
    ...{ usage: { inputTokens: 5, outputTokens: 6 }, costUsd: 0.5 },
  }),
  finishedRow('req_unpriced', {
    attempts: [attemptRecord({ usage: null, costUsd: null })],
    usage: null,
    costUsd: null,
  }),
  finishedRow('req_on_purpose', {
    outcome: 'error',
    fault: 'error',
    provider: null,
    attempts: [],
    usage: null,
    costUsd: 0,
  }),
  finishedRow('req_refused', { outcome: 'error', status: 404, provider: null, attempts: [], usage: null, costUsd: 0 }),
  finishedRow('req_failed', { outcome: 'stream-broken', usage: null, costUsd: 0, attempts: [attemptRecord()] }),
];

test('metrics say the same as the ledger of cost, tokens, models, unknown prices and errors', async () => {
  const metrics = createMetrics({ version: '1', figures });
  const sums = new UsageSums();
  for (const row of counted) {
    metrics.finished(row);
    sums.add(row);
  }
  const cells = [...sums.values()];
  const families = readPrometheusText(await metrics.text());
  const byLabel = (family: string, label: string, labels: Record<string, string> = {}) => {
    const found: Record<string, number> = {};
    for (const sample of families.get(family)?.samples ?? []) {
      if (Object.entries(labels).some(([name, value]) => sample.labels[name] !== value)) continue;
      const name = sample.labels[label] ?? '';
      found[name] = (found[name] ?? 0) + sample.value;
    }
    return found;
  };
  const ofCells = (dimension: string, read: (cell: (typeof cells)[number]) => number) =>
    Object.fromEntries(
      cells.filter((cell) => cell.dimension === dimension && read(cell) > 0).map((cell) => [cell.name, read(cell)]),
    );
  const all = (record: Record<string, number>) => Object.values(record).reduce((sum, value) => sum + value, 0);
  for (const dimension of ['model', 'provider'] as const) {
    expect(byLabel('sluice_cost_usd_total', dimension)).toEqual(ofCells(dimension, ({ costUsd }) => costUsd));
    for (const [type, read] of [
      ['input', 'inputTokens'],
      ['output', 'outputTokens'],
    ] as const)
      expect(byLabel('sluice_tokens_total', dimension, { type })).toEqual(ofCells(dimension, (cell) => cell[read]));
  }
  const outcomes = byLabel('sluice_requests_total', 'outcome');
  const failed = (outcomes.error ?? 0) + (outcomes['stream-broken'] ?? 0) + (outcomes.interrupted ?? 0);
  const [ofDay, refusedOfDay] = [ofCells('day', (cell) => cell.failed), ofCells('day', (cell) => cell.refused)];
  expect([failed, outcomes.refused, outcomes.fault]).toEqual([all(ofDay), all(refusedOfDay), 1]);
  expect(all(byLabel('sluice_unpriced_requests_total', 'model'))).toBe(
    all(ofCells('day', (cell) => cell.unpricedRequests)),
  );
});
