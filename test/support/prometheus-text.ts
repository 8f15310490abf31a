/** A strict parser of Prometheus' text format 0.0.4. It throws an Error wherever a scraper would reject the text. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface MetricFamily {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)|[+-]Inf|NaN)$/i;
const labelPart = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
const types = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);

export function readPrometheusText(text: string): Map<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the text does not end with a line end');
  const families = new Map<string, MetricFamily>();
  let latest: MetricFamily | undefined;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('#')) latest = readComment(line, families, latest);
    else readSample(line, latest);
  }
  for (const family of families.values()) checkFamily(family);
  return families;
}

function readComment(
  line: string,
  families: Map<string, MetricFamily>,
  latest: MetricFamily | undefined,
): MetricFamily {
  const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
  if (!metricName.test(name)) throw new Error(`not a comment of a metric: ${line}`);
  if (kind === 'TYPE') {
    if (latest?.name !== name || latest.type !== '' || !types.has(rest)) throw new Error(`a wrong type: ${line}`);
    latest.type = rest;
    return latest;
  }
  if (families.has(name)) throw new Error(`${name} is there twice`);
  const family = { name, type: '', help: rest, samples: [] };
  families.set(name, family);
  return family;
}

function readSample(line: string, family: MetricFamily | undefined): void {
  const [, name = '', labels = '', value = ''] = sampleLine.exec(line) ?? [];
  const suffix = family && name.startsWith(family.name) ? name.slice(family.name.length) : null;
  const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (!family || suffix === null || !suffixes.includes(suffix)) throw new Error(`a sample out of place: ${line}`);
  family.samples.push({ name, labels: readLabels(labels), value: Number(value.replace('Inf', 'Infinity')) });
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  labelPart.lastIndex = 0;
  while (labelPart.lastIndex < text.length) {
    const at = labelPart.lastIndex;
    const [, name, value = ''] = labelPart.exec(text) ?? [];
    if (name === undefined || name in labels) throw new Error(`wrong labels at ${at}: ${text}`);
    labels[name] = value.replace(/\\([\\"n])/g, (_, each: string) => (each === 'n' ? '\n' : each));
  }
  return labels;
}

function checkFamily({ name, type, samples }: MetricFamily): void {
  if (type === '') throw new Error(`${name} has no type`);
  const seen = new Set<string>();
  for (const sample of samples) {
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
    if (seen.has(key)) throw new Error(`a series is there twice: ${key}`);
    seen.add(key);
    if (type === 'counter' && !(sample.value >= 0)) throw new Error(`a counter below 0: ${key}`);
  }
  if (type === 'histogram') checkBuckets(name, samples);
}

/** Buckets are cumulative, and the last one equals the count. */
function checkBuckets(name: string, samples: readonly Sample[]): void {
  const ofSeries = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    ofSeries.set(key, [...(ofSeries.get(key) ?? []), sample]);
  }
  for (const [key, series] of ofSeries) {
    const buckets = series.filter((each) => each.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const total = series.find((each) => each.name === `${name}_count`)?.value;
    const isOrdered = (values: number[]) =>
      values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
    if (
      !isOrdered(bounds) ||
      !isOrdered(counts) ||
      bounds.at(-1) !== Number.POSITIVE_INFINITY ||
      counts.at(-1) !== total
    ) {
      throw new Error(`wrong buckets of ${name} ${key}`);
    }
  }
}
