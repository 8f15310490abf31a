import { SegmentedControl, Skeleton } from '@mantine/core';
import { useCallback, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { type Dimension, loadUsage, type UsageAnswers, type UsageQuestion } from '../../components/usage/load-usage.ts';
import { MetricChart } from '../../components/usage/MetricChart.tsx';
import { MetricTiles } from '../../components/usage/MetricTiles.tsx';
import { TopTable } from '../../components/usage/TopTable.tsx';
import classes from '../../components/usage/Usage.module.css';
import { type FirstByteFigure, firstByteFigures, type Metric } from '../../components/usage/usage-figures.ts';
import { type RangeName, rangeNames } from '../../components/usage/usage-range.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState, useControlStore } from '../../state/control/use-control.ts';
import { useLiveQuery } from '../../state/control/use-query.ts';

interface UsageSectionProps {
  choice: OverviewChoice;
  usage: ReturnType<typeof useUsage>;
}

const dimensions = ['model', 'provider', 'key', 'group'] as const;

/** Usage and cost over time, and by model, provider, key or group. */
export function UsageSection({ choice, usage }: UsageSectionProps) {
  const { overview: names } = useLocalization().messages;
  const { by, metric, choose } = choice;
  const { answer: answers, problem } = usage;
  return (
    <>
      <Section title={names.usage}>
        {problem && (
          <div className={classes.problem}>
            <CommandProblem problem={problem} />
          </div>
        )}
        <MetricTiles answers={answers} chosen={metric} onChoose={(chosen) => choose({ metric: chosen })} />
        {answers?.total.length === 0 ? <Nothing /> : <Figure answers={answers} choice={choice} />}
      </Section>
      <Section
        title={names.top}
        action={
          <SegmentedControl
            size="xs"
            aria-label={names.by}
            data={dimensions.map((value) => ({ value, label: names.dimensions[value] }))}
            value={by}
            onChange={(value) => choose({ by: value })}
          />
        }
      >
        <TopTable answers={answers} />
      </Section>
    </>
  );
}

function Nothing() {
  const { messages, formats } = useLocalization();
  const { overview: names } = messages;
  const running = useControlState((state) => state.requests.filter(({ outcome }) => outcome === null).length);
  if (running > 0) {
    return <EmptyNote title={names.runningTitle(running, formats.number(running))} next={names.runningNext} />;
  }
  return <EmptyNote title={names.emptyTitle} next={names.emptyNext} />;
}

function Figure({ answers, choice }: { answers: UsageAnswers | null; choice: OverviewChoice }) {
  const { overview: names } = useLocalization().messages;
  const { metric, figure, choose } = choice;
  // The figures are painted before the chart is rendered.
  const isPainted = useIsPainted();
  return (
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
      {answers && isPainted ? (
        <MetricChart answers={answers} figure={figure} />
      ) : (
        <div className={classes.skeleton}>
          <Skeleton height={242} />
        </div>
      )}
    </figure>
  );
}

function useIsPainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setPainted(true));
    return () => cancelAnimationFrame(frame);
  }, []);
  return isPainted;
}

/** The figures of the overview, updated live. A range chosen to fit the data stays until the screen is left. */
export function useUsage({ range, by, metric }: UsageQuestion) {
  const { query } = useControlStore();
  const [foundRange, setFoundRange] = useState<RangeName | null>(null);
  const load = useCallback(async () => {
    const answers = await loadUsage(query, { range: range ?? foundRange, by, metric }, Date.now());
    if (range === null && answers.total.length > 0) setFoundRange(answers.range);
    return answers;
  }, [query, range, foundRange, by, metric]);
  return useLiveQuery(load);
}

interface Chosen {
  /** Null for the range that fits the data. */
  range: RangeName | null;
  by: Dimension;
  metric: Metric;
  figure: FirstByteFigure;
}

interface OverviewChoice extends Chosen {
  choose(changes: Partial<Chosen>): void;
}

const metrics: readonly Metric[] = ['requests', 'tokens', 'cost', 'errors', 'firstByte'];

/** The chosen view of the usage. It is part of the address, so that it survives a reload and can be bookmarked. */
export function useOverviewChoice(): OverviewChoice {
  const [search, setSearch] = useSearchParams();
  return {
    range: oneOf(rangeNames, search.get('range')) ?? null,
    by: oneOf(dimensions, search.get('by')) ?? 'model',
    metric: oneOf(metrics, search.get('metric')) ?? 'requests',
    figure: oneOf(firstByteFigures, search.get('figure')) ?? 'together',
    choose: ({ range, ...changes }) =>
      setSearch((old) => ({ ...Object.fromEntries(old), ...(range && { range }), ...changes }), { replace: true }),
  };
}

function oneOf<Value extends string>(values: readonly Value[], text: string | null): Value | undefined {
  return values.find((value) => value === text);
}
