import { expect, test } from 'vitest';
import { createMetrics } from '../../../server/observability/prometheus.ts';
import { attemptRecord } from '../../support/attempt-record.ts';
import { readPrometheusText } from '../../support/prometheus-text.ts';
import { finishedRow } from '../store/sqlite/records.ts';

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
