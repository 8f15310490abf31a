import { SegmentedControl, Skeleton } from '@mantine/core';
import { useCallback, useState } from 'react';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlStore } from '../../state/use-control.ts';
import { useLiveAnswer } from '../../state/use-live-answer.ts';
import { MetricChart } from '../overview/MetricChart.tsx';
import { MetricTiles } from '../overview/MetricTiles.tsx';
import { TopTable } from '../overview/TopTable.tsx';
import chart from '../overview/UsageSection.module.css';
import type { CountedMetric } from '../overview/usage-figures.ts';
import type { RangeName } from '../overview/usage-range.ts';
import people from '../people/People.module.css';
import { answersOf, loadOwnUsage } from './own-usage.ts';

const metrics: readonly CountedMetric[] = ['cost', 'requests', 'tokens', 'errors'];
const ranges: readonly RangeName[] = ['day', 'week', 'month', 'quarter'];

/** What the person has spent and used with keys of their own, over time and by model. */
export function OwnUsageSection() {
  const { ownUsage: names, overview } = useMessages();
  const { query } = useControlStore();
  const [range, setRange] = useState<RangeName>('month');
  const [chosen, setChosen] = useState<CountedMetric | null>(null);
  const load = useCallback(() => loadOwnUsage(query, range, Date.now()), [query, range]);
  const { answer, problem } = useLiveAnswer(load);
  // A chart of costs says nothing where everything is free.
  const metric = chosen ?? (answer?.steps.some(({ costUsd }) => costUsd) ? 'cost' : 'requests');
  const answers = answer && answersOf(answer, metric);
  return (
    <Section
      title={names.title}
      action={
        <SegmentedControl
          size="xs"
          aria-label={names.range}
          data={ranges.map((value) => ({ value, label: overview.ranges[value] }))}
          value={range}
          onChange={(value) => setRange(ranges.find((name) => name === value) ?? 'month')}
        />
      }
    >
      {problem && (
        <div className={chart.problem}>
          <CommandProblem problem={problem} />
        </div>
      )}
      <MetricTiles
        answers={answers}
        metrics={metrics}
        chosen={metric}
        onChoose={(name) => setChosen(metrics.find((each) => each === name) ?? null)}
      />
      {answers?.total.length === 0 ? (
        <EmptyNote title={names.emptyTitle} next={names.emptyNext} />
      ) : (
        <>
          <figure className={chart.chart} aria-label={names.chart(overview.metrics[metric])}>
            {answers ? (
              <MetricChart answers={answers} figure="together" />
            ) : (
              <div className={chart.skeleton}>
                <Skeleton height={242} />
              </div>
            )}
          </figure>
          <TopTable answers={answers} />
        </>
      )}
      <p className={people.text}>{names.hint}</p>
    </Section>
  );
}
