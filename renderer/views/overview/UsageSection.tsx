import { SegmentedControl, Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { MetricTiles } from './MetricTiles.tsx';
import { TopTable } from './TopTable.tsx';
import classes from './UsageSection.module.css';
import { firstByteFigures, sumOf } from './usage-figures.ts';
import type { OverviewChoice } from './use-overview-choice.ts';
import { useUsage } from './use-usage.ts';

const Chart = lazy(async () => ({ default: (await import('./MetricChart.tsx')).MetricChart }));

/** What was asked for and what it cost, over time and by who or what. */
export function UsageSection({ choice }: { choice: OverviewChoice }) {
  const { messages } = useLocalization();
  const names = messages.overview;
  const { range, by, metric, choose } = choice;
  const counted = metric === 'firstByte' ? 'requests' : metric;
  const figure = metric === 'firstByte' ? choice.figure : 'together';
  const answers = useUsage({ range, by, metric: counted, figure });
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
            {metric === 'firstByte' && (
              <SegmentedControl
                size="xs"
                aria-label={names.metrics.firstByte}
                className={classes.figure}
                data={firstByteFigures.map((value) => ({ value, label: names.firstByteFigures[value] }))}
                value={figure}
                onChange={(value) => choose({ figure: value })}
              />
            )}
            <Suspense fallback={<Skeleton height={250} />}>
              <Chart answers={answers} choice={choice} />
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
