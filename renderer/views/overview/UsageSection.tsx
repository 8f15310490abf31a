import { SegmentedControl, Skeleton } from '@mantine/core';
import { useEffect, useState } from 'react';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { Section } from '../../components/layout/Section.tsx';
import type { UsageAnswers } from '../../components/usage/load-usage.ts';
import { MetricChart } from '../../components/usage/MetricChart.tsx';
import { MetricTiles } from '../../components/usage/MetricTiles.tsx';
import { TopTable } from '../../components/usage/TopTable.tsx';
import classes from '../../components/usage/Usage.module.css';
import { firstByteFigures } from '../../components/usage/usage-figures.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import type { OverviewChoice } from './use-overview-choice.ts';
import type { useUsage } from './use-usage.ts';

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
