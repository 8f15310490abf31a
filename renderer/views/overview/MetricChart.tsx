import { Skeleton } from '@mantine/core';
import type { FirstByteStep } from '../../../server/contract/request-views.ts';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import { AmountChart, LinesChart } from './UsageChart.tsx';
import { chartRows, errorRates, lineRows } from './usage-figures.ts';
import { stepsOf, type TimeGrid } from './usage-range.ts';
import { useNames } from './use-names.ts';
import type { OverviewChoice } from './use-overview-choice.ts';
import type { UsageAnswers } from './use-usage.ts';

interface MetricChartProps {
  answers: UsageAnswers;
  choice: OverviewChoice;
}

/** The chosen metric over time: amounts as bars that add up, rates and times as lines. */
export function MetricChart({ answers, choice }: MetricChartProps) {
  const { messages, formats } = useLocalization();
  const { metric } = choice;
  const labels = answers.leaders.map(useNames(choice.by));
  const steps = stepsOf(answers.grid);
  const tick = tickOf(answers.grid, formats);
  if (metric === 'firstByte') return <FirstByteChart {...{ answers, choice, steps, labels, tick }} />;
  const { leaders, total, named } = answers;
  if (!total || !named) return <Skeleton height={250} />;
  if (metric === 'errors') {
    const ofLeaders = leaders.map((name) => named.filter((step) => step.name === name));
    const rows = lineRows(steps, [...ofLeaders, total].map(errorRates));
    const { all } = messages.overview;
    return <LinesChart rows={rows} labels={labels} all={all} tick={tick} format={formats.percent} />;
  }
  const rows = chartRows({ steps, names: leaders, metric, named, total });
  const format = metric === 'cost' ? formats.dollars : formats.compact;
  return <AmountChart rows={rows} labels={labels} tick={tick} format={format} />;
}

interface FirstByteChartProps extends MetricChartProps {
  steps: number[];
  /** Of the leaders. */
  labels: string[];
  tick(startMs: number): string;
}

function FirstByteChart({ answers, choice: { figure }, steps, labels, tick }: FirstByteChartProps) {
  const { messages, formats } = useLocalization();
  const { leaders, firstByte, firstByteByName } = answers;
  if (figure === 'together') {
    if (!firstByte) return <Skeleton height={250} />;
    const both = [messages.overview.median, messages.overview.p95];
    const rows = lineRows(steps, [timesOf(firstByte.steps, 'medianMs'), timesOf(firstByte.steps, 'p95Ms')]);
    return <LinesChart rows={rows} labels={both} tick={tick} format={formats.duration} />;
  }
  if (!firstByteByName) return <Skeleton height={250} />;
  const field = figure === 'median' ? 'medianMs' : 'p95Ms';
  const ofName = (name: string | null) => firstByteByName.filter((step) => step.name === name);
  const rows = lineRows(
    steps,
    leaders.map((name) => timesOf(ofName(name), field)),
  );
  return <LinesChart rows={rows} labels={labels} tick={tick} format={formats.duration} />;
}

function timesOf(steps: readonly FirstByteStep[], field: 'medianMs' | 'p95Ms'): Map<number, number> {
  return new Map(steps.map((step) => [step.startMs, step[field]]));
}

function tickOf({ sinceMs, untilMs, stepMs }: TimeGrid, formats: Localization['formats']): (startMs: number) => string {
  if (untilMs - sinceMs <= 90_000_000) return formats.clock;
  return stepMs < 86_400_000 ? formats.dayAndClock : formats.shortDay;
}
