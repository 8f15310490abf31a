import type { Attributes, Meter } from '@opentelemetry/api';
import { type Counting, countOf } from '../contract/count.ts';
import type { RequestRecord, Usage } from '../contract/ledger.ts';
import { type Conventions, operationName, type ServiceNames, serviceAttributes } from './gen-ai.ts';

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
export function createGenAiMetrics(
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
