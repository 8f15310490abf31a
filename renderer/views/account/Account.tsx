/** The account of the person signed in: their first steps, usage and API tokens. */

import { Group, SegmentedControl, Skeleton } from '@mantine/core';
import { useCallback, useState } from 'react';
import type { UsageStepView } from '../../../server/contract/request-views.ts';
import { dayMs } from '../../../server/contract/units.ts';
import { LimitMeters } from '../../components/access/LimitMeters.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { FirstCall } from '../../components/first-call/FirstCall.tsx';
import classes from '../../components/first-call/Steps.module.css';
import { AddressStep, Step, ToolLinks } from '../../components/first-call/Steps.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import section from '../../components/layout/Section.module.css';
import { Section } from '../../components/layout/Section.tsx';
import { TokensSection } from '../../components/tokens/TokensSection.tsx';
import type { UsageAnswers } from '../../components/usage/load-usage.ts';
import { MetricChart } from '../../components/usage/MetricChart.tsx';
import { MetricTiles } from '../../components/usage/MetricTiles.tsx';
import { TopTable } from '../../components/usage/TopTable.tsx';
import chart from '../../components/usage/Usage.module.css';
import { type CountedMetric, leadersOf, sumOf } from '../../components/usage/usage-figures.ts';
import { gridOf, type RangeName, type TimeGrid } from '../../components/usage/usage-range.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useKeyChoice } from '../../state/choices/use-key-choice.ts';
import type { ControlState } from '../../state/control/control-state.ts';
import type { ControlStore } from '../../state/control/control-store.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { useLiveQuery, useQuery } from '../../state/control/use-query.ts';
import { progressOf, useAddressCopied } from '../../state/first-run/use-first-run.ts';
import { usePerson } from '../../state/rights/use-rights.ts';

export function Account() {
  return (
    <Screen name="account">
      <OwnFirstSteps />
      <OwnUsageSection />
      <TokensSection of="me" />
    </Screen>
  );
}

/** The first steps of a person who was invited: a key, a call, a tool. Shown until all are done, or for a day of use. */
function OwnFirstSteps() {
  const { firstRun: names } = useMessages();
  const isNew = useControlState(isNewPerson);
  const hasCalled = useControlState((state) => ownProgress(state).hasCalled);
  const hasTool = useControlState((state) => ownProgress(state).hasTool);
  const choice = useKeyChoice();
  const hasUsedAddress = useControlState((state) => ownProgress(state).hasAddress);
  const [isCopied, noteCopied] = useAddressCopied();
  if (!isNew || (hasCalled && hasTool)) return null;
  return (
    <Section title={names.title}>
      <ol className={classes.steps}>
        <Step number={1} title={names.address} text={names.addressText} isDone={isCopied || hasUsedAddress}>
          <AddressStep choice={choice} isFirst onCopied={noteCopied} />
        </Step>
        <Step number={2} title={names.call} text={names.ownCallText} isDone={hasCalled}>
          <FirstCall choice={choice} isAfterKey />
        </Step>
        <Step number={3} title={names.tool} text={names.toolText} isDone={hasTool}>
          <ToolLinks />
        </Step>
      </ol>
    </Section>
  );
}

function ownKeys({ views }: ControlState) {
  const me = views?.status.person?.id;
  return views?.keys.filter(({ owner }) => owner !== null && owner === me) ?? [];
}

/** None of their keys was in use a day ago. */
function isNewPerson(state: ControlState): boolean {
  const recently = Date.now() - dayMs;
  return state.views !== null && !ownKeys(state).some(({ lastUsedAt }) => lastUsedAt !== null && lastUsedAt < recently);
}

function ownProgress(state: ControlState) {
  const own = new Set(ownKeys(state).map(({ id }) => id));
  const requests = state.requests.filter(({ keyId }) => keyId !== null && own.has(keyId));
  return progressOf({ views: state.views, requests });
}

const metrics: readonly CountedMetric[] = ['cost', 'requests', 'tokens', 'errors'];
const ranges: readonly RangeName[] = ['day', 'week', 'month', 'quarter'];

/** Usage and cost of the person's own keys, or of the groups that they manage, over time and by model. */
function OwnUsageSection() {
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

/** A person's own usage, or that of the groups they manage, by model, in the form in which the overview shows usage. */
interface OwnUsage {
  range: RangeName;
  grid: TimeGrid;
  /** By model. */
  steps: UsageStepView[];
}

const maxSeries = 5;
const noTimes = { steps: [], named: [], medianMs: null, p95Ms: null };

/** `own`: usage of the person's own keys. `managed`: everything that the person may see. */
type UsageScope = 'own' | 'managed';

async function loadOwnUsage(
  query: ControlStore['query'],
  { range, scope }: { range: RangeName; scope: UsageScope },
  nowMs: number,
): Promise<OwnUsage> {
  const grid = gridOf(range, nowMs);
  const filter = scope === 'own' ? ({ own: true } as const) : {};
  const steps = await query<'usage-over-time'>({ type: 'usage-over-time', by: 'model', ...filter, ...grid });
  return { range, grid, steps };
}

/** Does not include times to the first byte. */
function answersOf({ range, grid, steps }: OwnUsage, metric: CountedMetric): UsageAnswers {
  const ofModels = Map.groupBy(steps, ({ name }) => name);
  const ofTimes = Map.groupBy(steps, ({ startMs }) => startMs);
  const byName = [...ofModels].map(([name, ofName]) => ({ name, ...sumOf(ofName) }));
  return {
    ...{ range, grid, by: 'model', metric, byName, leaderSteps: steps },
    total: [...ofTimes].map(([startMs, ofStep]) => ({ startMs, name: null, ...sumOf(ofStep) })),
    leaders: leadersOf(byName, metric, maxSeries).map(({ name }) => name),
    ...{ firstByte: noTimes, firstByteByName: [], month: null },
  };
}
