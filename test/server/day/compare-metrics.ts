/** What Prometheus and OpenTelemetry are told of a day. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestView } from '../../../server/contract/request-views.ts';
import type { OtlpCollector } from '../../support/otlp-collector.ts';
import { readPrometheusText } from '../../support/prometheus-text.ts';
import type { Day } from './compare-ledger.ts';
import { type Differences, partsOf, type Sums, sumOf } from './sums.ts';

const tokenTypes = {
  input: 'inputTokens',
  output: 'outputTokens',
  cached_input: 'cachedInputTokens',
  cache_write: 'cacheWriteTokens',
  reasoning: 'reasoningTokens',
} as const satisfies Record<string, keyof Sums>;

type Labels = Record<string, string>;

export async function comparePrometheus(differences: Differences, { sluice, rows, folder }: Day): Promise<void> {
  const token = readFileSync(join(folder, 'admin.token'), 'utf8').trim();
  const response = await fetch(`${sluice.origin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const families = readPrometheusText(await response.text());
  const samplesOf = (name: string) => families.get(name)?.samples ?? [];
  const readSum = (name: string, wanted: Labels) =>
    samplesOf(name)
      .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  const parts = rows.flatMap((row) => partsOf(row).map((part) => ({ ...part, group: row.groupId })));
  const series = Map.groupBy(parts, ({ group, provider, model }) => JSON.stringify([group, provider, model]));
  for (const [name, some] of series) {
    const [group, provider, model] = (JSON.parse(name) as (string | null)[]).map((label) => label ?? 'none');
    const labels = { group: group ?? '', provider: provider ?? '', model: model ?? '' };
    const sums = sumOf(some);
    for (const [type, count] of Object.entries(tokenTypes))
      differences.expect(
        `Prometheus, ${type} tokens of ${name}`,
        readSum('sluice_tokens_total', { ...labels, type }),
        sums[count],
      );
    differences.expect(`Prometheus, requests of ${name}`, readSum('sluice_requests_total', labels), sums.requests);
    differences.expect(`Prometheus, cost of ${name}`, readSum('sluice_cost_usd_total', labels), sums.costUsd);
    differences.expect(
      `Prometheus, unpriced of ${name}`,
      readSum('sluice_unpriced_requests_total', labels),
      sums.unpricedRequests,
    );
  }
  const total = sumOf(parts);
  differences.expectSums(
    'Prometheus, all series',
    { requests: readSum('sluice_requests_total', {}), costUsd: readSum('sluice_cost_usd_total', {}) },
    { ...total, unpricedRequests: 0 },
  );
  for (const [outcome, some] of Map.groupBy(rows, outcomeOf))
    differences.expect(
      `Prometheus, requests that ended ${outcome}`,
      readSum('sluice_requests_total', { outcome }),
      some.length,
    );
}

/** Faults that a client asked for are a series of their own, because they are no errors. */
const outcomeOf = ({ outcome, fault }: RequestView) =>
  outcome === 'error' && fault !== null ? 'fault' : (outcome ?? '');

export function compareTelemetry(
  differences: Differences,
  { points, spans }: OtlpCollector,
  rows: readonly RequestView[],
): void {
  const parts = rows.flatMap(partsOf);
  const sums = sumOf(parts);
  const latest = new Map(
    points
      .filter(({ metric }) => /^gen_ai\.client\.\w+\.operation\.(?:in|out)put_tokens$/.test(metric))
      .map((point) => [point.metric + JSON.stringify(Object.entries(point.attributes).toSorted()), point]),
  );
  for (const [type, count] of [
    ['input', 'inputTokens'],
    ['output', 'outputTokens'],
  ] as const) {
    const own = [...latest.values()].filter(({ metric }) => metric.endsWith(`.${type}_tokens`));
    differences.expect(
      `OpenTelemetry, ${type} tokens`,
      own.reduce((sum, point) => sum + point.sum, 0),
      sums[count],
    );
    for (const [model, some] of Map.groupBy(parts, (part) => part.model)) {
      const ofModel = own.filter(({ attributes }) => attributes['gen_ai.request.model'] === (model ?? undefined));
      differences.expect(
        `OpenTelemetry, ${type} tokens of ${model}`,
        ofModel.reduce((sum, point) => sum + point.sum, 0),
        sumOf(some)[count],
      );
    }
  }
  const attributes = {
    inputTokens: 'gen_ai.usage.input_tokens',
    outputTokens: 'gen_ai.usage.output_tokens',
    cachedInputTokens: 'gen_ai.usage.cache_read.input_tokens',
    cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
    reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  } as const;
  for (const [count, attribute] of Object.entries(attributes)) {
    const told = spans.reduce((sum, span) => sum + Number(span.attributes[attribute] ?? 0), 0);
    differences.expect(`OpenTelemetry, spans’ ${count}`, told, sums[count as keyof Sums]);
  }
}
