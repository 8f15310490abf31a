import { SegmentedControl, Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { MetricTiles } from './MetricTiles.tsx';
import { TopTable } from './TopTable.tsx';
import classes from './UsageSection.module.css';
import { type CountedMetric, chartRows, type Metric, sumOf } from './usage-figures.ts';
import { stepsOf } from './usage-range.ts';
import { useNames } from './use-names.ts';
import type { OverviewChoice } from './use-overview-choice.ts';
import { type UsageAnswers, useUsage } from './use-usage.ts';

const AmountChart = lazy(async () => ({ default: (await import('./UsageChart.tsx')).AmountChart }));
const FirstByteChart = lazy(async () => ({ default: (await import('./UsageChart.tsx')).FirstByteChart }));

/** What was asked for and what it cost, over time and by who or what. */
export function UsageSection({ choice }: { choice: OverviewChoice }) {
  const { messages } = useLocalization();
  const names = messages.overview;
  const { range, by, metric, choose } = choice;
  const counted = metric === 'firstByte' ? 'requests' : metric;
  const answers = useUsage(range, by, counted);
  const { total, firstByte, problem } = answers;
  const sum = total && sumOf(total);
  const dimensions = (['model', 'provider', 'key', 'group'] as const).map((value) => ({
    value,
    label: names.dimensions[value],
  }));
  return (
    <>
      <Section title={names.usage}>
        {problem && (
          <div className={classes.problem}>
            <CommandProblem problem={problem} />
          </div>
        )}
        <MetricTiles
          sum={sum}
          firstByte={firstByte}
          chosen={metric}
          onChoose={(chosen) => choose({ metric: chosen })}
        />
        {sum?.requests === 0 ? (
          <EmptyNote title={names.emptyTitle} next={names.emptyNext} />
        ) : (
          <figure className={classes.chart} aria-label={names.metrics[metric]}>
            <Suspense fallback={<Skeleton height={250} />}>
              <Chart answers={answers} choice={choice} metric={metric} />
            </Suspense>
          </figure>
        )}
      </Section>
      <Section
        title={names.top}
        action={
          <SegmentedControl
            size="xs"
            aria-label={names.by}
            data={dimensions}
            value={by}
            onChange={(value) => choose({ by: value })}
          />
        }
      >
        <TopTable usage={answers.byName} by={by} metric={counted} />
      </Section>
    </>
  );
}

interface ChartProps {
  answers: UsageAnswers;
  choice: OverviewChoice;
  metric: Metric;
}

function Chart({ answers, choice, metric }: ChartProps) {
  const { formats } = useLocalization();
  const nameOf = useNames(choice.by);
  const { grid, leaders, total, named, firstByte } = answers;
  const steps = stepsOf(grid);
  const isWithinDay = grid.untilMs - grid.sinceMs <= 90_000_000;
  const tick = isWithinDay ? formats.clock : grid.stepMs < 86_400_000 ? formats.dayAndClock : formats.shortDay;
  if (metric === 'firstByte') {
    if (!firstByte) return <Skeleton height={250} />;
    return <FirstByteChart steps={steps} times={firstByte.steps} tick={tick} format={formats.duration} />;
  }
  if (!total || !named) return <Skeleton height={250} />;
  const rows = chartRows({ steps, names: leaders, metric, named, total });
  const labels = leaders.map(nameOf);
  return <AmountChart steps={steps} rows={rows} labels={labels} tick={tick} format={formatOf(metric, formats)} />;
}

function formatOf(metric: CountedMetric, formats: ReturnType<typeof useLocalization>['formats']) {
  return metric === 'cost' ? formats.dollars : formats.compact;
}
