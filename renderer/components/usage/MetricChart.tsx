import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { FirstByteStep } from '../../../server/contract/request-views.ts';
import { dayMs, hourMs } from '../../../server/contract/units.ts';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import type { UsageAnswers } from './load-usage.ts';
import { colorOf, othersColor } from './name-colors.ts';
import { requestsAddress } from './requests-address.ts';
import { type ChartSeries, TimeChart } from './TimeChart.tsx';
import {
  amounts,
  type CountedMetric,
  type FirstByteFigure,
  failureRates,
  othersOf,
  valuesAt,
} from './usage-figures.ts';
import { edgesOf, type TimeGrid } from './usage-range.ts';
import { useNames } from './use-names.ts';

interface MetricChartProps {
  answers: UsageAnswers;
  figure: FirstByteFigure;
}

/** A metric over time: stacked bars for amounts, lines for rates and times. Each step links to its requests. */
export function MetricChart({ answers, figure }: MetricChartProps) {
  const { messages, formats } = useLocalization();
  const [, goTo] = useLocation();
  const nameOf = useNames(answers.by, answers.leaders);
  const { metric, grid } = answers;
  const edgesMs = useMemo(() => edgesOf(grid), [grid]);
  const steps = edgesMs.slice(0, -1);
  const series = seriesOf({ answers, figure, steps, nameOf, messages });
  const failed = metric === 'errors' && ({ outcome: 'failed' } as const);
  return (
    <TimeChart
      kind={metric === 'errors' || metric === 'firstByte' ? 'lines' : 'bars'}
      label={messages.overview.metrics[metric]}
      sumLabel={messages.overview.sum}
      edgesMs={edgesMs}
      isWhole={metric === 'requests' || metric === 'tokens'}
      series={series}
      tick={tickOf(grid, formats)}
      span={spanOf(grid, formats)}
      format={formatOf(metric, formats)}
      onOpen={(since, until) => goTo(requestsAddress({ ...failed, since, until }))}
    />
  );
}

interface SeriesQuestion {
  answers: UsageAnswers;
  figure: FirstByteFigure;
  steps: readonly number[];
  nameOf(name: string | null): string;
  messages: Localization['messages'];
}

function seriesOf(question: SeriesQuestion): ChartSeries[] {
  const { metric } = question.answers;
  if (metric === 'firstByte') return firstByteSeries(question);
  return metric === 'errors' ? rateSeries(question) : amountSeries(question, metric);
}

/** One series per leader. */
function leaderSeries(
  { answers, nameOf, steps }: SeriesQuestion,
  valuesOf: (name: string | null) => Map<number, number>,
) {
  return answers.leaders.map((name) => ({
    id: name ?? '',
    label: nameOf(name),
    color: colorOf(name),
    values: valuesAt(steps, valuesOf(name)),
  }));
}

function amountSeries(question: SeriesQuestion, metric: CountedMetric): ChartSeries[] {
  const { answers, steps, messages } = question;
  const leaders = leaderSeries(question, (name) =>
    amounts(
      answers.leaderSteps.filter((step) => step.name === name),
      metric,
    ),
  );
  const total = valuesAt(steps, amounts(answers.total, metric));
  const values = othersOf(
    total,
    leaders.map((each) => each.values),
  );
  const others = { id: 'others', label: messages.overview.others, color: othersColor, values };
  return values.some((value) => value !== 0) ? [...leaders, others] : leaders;
}

function rateSeries(question: SeriesQuestion): ChartSeries[] {
  const { answers, steps, messages } = question;
  const values = valuesAt(steps, failureRates(answers.total));
  return [
    ...leaderSeries(question, (name) => failureRates(answers.leaderSteps.filter((step) => step.name === name))),
    { id: 'all', label: messages.overview.all, color: othersColor, values },
  ];
}

function firstByteSeries(question: SeriesQuestion): ChartSeries[] {
  const { answers, figure, steps, messages } = question;
  const { median, p95 } = messages.overview;
  if (figure !== 'together') {
    const field = figure === 'median' ? 'medianMs' : 'p95Ms';
    return leaderSeries(question, (name) =>
      timesOf(
        answers.firstByteByName.filter((step) => step.name === name),
        field,
      ),
    );
  }
  const ofAll = (field: 'medianMs' | 'p95Ms') => valuesAt(steps, timesOf(answers.firstByte.steps, field));
  return [
    { id: 'median', label: median, color: colorOf('median'), values: ofAll('medianMs') },
    { id: 'p95', label: p95, color: othersColor, values: ofAll('p95Ms') },
  ];
}

function timesOf(steps: readonly FirstByteStep[], field: 'medianMs' | 'p95Ms'): Map<number, number> {
  return new Map(steps.map((step) => [step.startMs, step[field]]));
}

type Formats = Localization['formats'];

function formatOf(metric: UsageAnswers['metric'], formats: Formats): (value: number) => string {
  if (metric === 'errors') return formats.percent;
  if (metric === 'firstByte') return formats.duration;
  return metric === 'cost' ? formats.dollars : formats.compact;
}

function tickOf({ sinceMs, untilMs, stepMs }: TimeGrid, formats: Formats): (moment: number) => string {
  if (untilMs - sinceMs <= dayMs + hourMs) return formats.clock;
  return stepMs < dayMs ? formats.dayAndClock : formats.shortDay;
}

function spanOf({ stepMs }: TimeGrid, formats: Formats): (startMs: number, endMs: number) => string {
  if (stepMs >= dayMs) return formats.day;
  return (startMs, endMs) => `${formats.dayAndClock(startMs)} – ${formats.clock(endMs)}`;
}
