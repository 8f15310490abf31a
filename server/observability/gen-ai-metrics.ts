import type { Attributes, Meter } from '@opentelemetry/api';
import { type Counting, countOf } from '../contract/count.ts';
import type { RequestRecord } from '../contract/ledger.ts';
import { operationName } from './gen-ai.ts';

/** The bucket boundaries that the conventions recommend for each metric. */
const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokenBounds = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const firstTokenBounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Records the attempts of a finished request according to OpenTelemetry's conventions for generative AI. */
export function createGenAiMetrics(
  meter: Meter,
  providerName: (id: string) => string,
): (record: RequestRecord) => void {
  const histogram = (name: string, unit: string, description: string, bounds: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: bounds } });
  const duration = histogram('gen_ai.client.operation.duration', 's', 'GenAI operation duration.', durationBounds);
  const tokens = histogram('gen_ai.client.token.usage', '{token}', 'Number of tokens used.', tokenBounds);
  const firstToken = histogram(
    'gen_ai.server.time_to_first_token',
    's',
    'Time to generate first token for successful responses.',
    firstTokenBounds,
  );
  const labelsOf = ({ capability }: RequestRecord, { provider, model }: Pick<Counting, 'provider' | 'model'>) => ({
    'gen_ai.operation.name': operationName(capability),
    ...(provider !== null && { 'gen_ai.provider.name': providerName(provider) }),
    ...(model !== null && { 'gen_ai.request.model': model }),
  });
  return (record) => {
    for (const attempt of record.attempts) {
      const { failure, firstContentMs, totalMs } = attempt;
      const labels: Attributes = labelsOf(record, attempt);
      if (totalMs !== null) duration.record(totalMs / 1_000, failure ? { ...labels, 'error.type': failure } : labels);
      if (firstContentMs !== null && failure === null) firstToken.record(firstContentMs / 1_000, labels);
    }
    for (const part of countOf(record).parts) {
      const { inputTokens, outputTokens } = part.usage ?? {};
      const labels: Attributes = labelsOf(record, part);
      if (inputTokens !== undefined) tokens.record(inputTokens, { ...labels, 'gen_ai.token.type': 'input' });
      if (outputTokens !== undefined) tokens.record(outputTokens, { ...labels, 'gen_ai.token.type': 'output' });
    }
  };
}
