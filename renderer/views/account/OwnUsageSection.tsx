import { Group, SegmentedControl, Skeleton } from '@mantine/core';
import { useCallback, useState } from 'react';
import { LimitMeters } from '../../components/access/LimitMeters.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import section from '../../components/layout/Section.module.css';
import { Section } from '../../components/layout/Section.tsx';
import { MetricChart } from '../../components/usage/MetricChart.tsx';
import { MetricTiles } from '../../components/usage/MetricTiles.tsx';
import { TopTable } from '../../components/usage/TopTable.tsx';
import chart from '../../components/usage/Usage.module.css';
import type { CountedMetric } from '../../components/usage/usage-figures.ts';
import type { RangeName } from '../../components/usage/usage-range.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { useLiveQuery, useQuery } from '../../state/control/use-query.ts';
import { usePerson } from '../../state/rights/use-rights.ts';
import { answersOf, loadOwnUsage, type UsageScope } from './own-usage.ts';

const metrics: readonly CountedMetric[] = ['cost', 'requests', 'tokens', 'errors'];
const ranges: readonly RangeName[] = ['day', 'week', 'month', 'quarter'];

/** Usage and cost of the person's own keys, or of the groups that they manage, over time and by model. */
export function OwnUsageSection() {
  const { ownUsage: names, overview } = useMessages();
  const { query } = useControlStore();
  const { answer: self } = useQuery<'who-am-i'>({ type: 'who-am-i' });
  const limitUse = self?.limitUse ?? [];
  const isManager = (usePerson()?.manages.length ?? 0) > 0;
  const [range, setRange] = useState<RangeName>('month');
  const [scope, setScope] = useState<UsageScope>('own');
  const [chosen, setChosen] = useState<CountedMetric | null>(null);
  const load = useCallback(() => loadOwnUsage(query, { range, scope }, Date.now()), [query, range, scope]);
  const { answer, problem } = useLiveQuery(load);
  // A chart of costs is meaningless if everything is free.
  const metric = chosen ?? (answer?.steps.some(({ costUsd }) => costUsd) ? 'cost' : 'requests');
  const answers = answer && answersOf(answer, metric);
  return (
    <Section
      title={names.title}
      action={
        <Group gap="xs">
          {isManager && (
            <SegmentedControl
              size="xs"
              aria-label={names.whose}
              data={[
                { value: 'own', label: names.own },
                { value: 'managed', label: names.managed },
              ]}
              value={scope}
              onChange={(value) => setScope(value === 'managed' ? 'managed' : 'own')}
            />
          )}
          <SegmentedControl
            size="xs"
            aria-label={names.range}
            data={ranges.map((value) => ({ value, label: overview.ranges[value] }))}
            value={range}
            onChange={(value) => setRange(ranges.find((name) => name === value) ?? 'month')}
          />
        </Group>
      }
    >
      {problem && (
        <div className={chart.problem}>
          <CommandProblem problem={problem} />
        </div>
      )}
      {limitUse.length > 0 && (
        <div className={section.text}>
          {names.limits}
          <LimitMeters meters={limitUse} />
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
      <p className={section.text}>{scope === 'own' ? names.hint : names.managedHint}</p>
    </Section>
  );
}
