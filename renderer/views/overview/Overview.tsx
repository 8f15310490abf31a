/** The first screen: steps for new users until the first request, then current activity, concerns and usage. */
import { SegmentedControl } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Screen } from '../../components/layout/Screen.tsx';
import { RecentNote } from '../../components/recent/RecentNote.tsx';
import { rangeNames } from '../../components/usage/usage-range.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useFirstRun } from '../../state/first-run/use-first-run.ts';
import { AttentionSection } from './AttentionSection.tsx';
import classes from './DemoNote.module.css';
import { FirstRunPath } from './first-run/FirstRunPath.tsx';
import { LiveStrip } from './LiveStrip.tsx';
import { UsageSection, useOverviewChoice, useUsage } from './UsageSection.tsx';

export function Overview() {
  const { overview: names } = useMessages();
  const choice = useOverviewChoice();
  const usage = useUsage(choice);
  const { isShown: isFirstRun, progress, end } = useFirstRun();
  // Once it is answered, the guide says what is kept.
  const isUnasked = useControlState(({ views }) => views?.status.recentCapture === 'unasked');
  const hasUsage = !isFirstRun || progress.hasCalled;
  return (
    <Screen
      name="overview"
      action={
        hasUsage && (
          <SegmentedControl
            size="xs"
            aria-label={names.range}
            data={rangeNames.map((value) => ({ value, label: names.ranges[value] }))}
            value={choice.range ?? usage.answer?.range ?? ''}
            onChange={(value) => choice.choose({ range: rangeNames.find((name) => name === value) ?? null })}
          />
        )
      }
    >
      {isFirstRun && <FirstRunPath progress={progress} end={end} />}
      {hasUsage && <LiveStrip />}
      {!isFirstRun && <DemoNote />}
      {(!isFirstRun || isUnasked) && <RecentNote />}
      <AttentionSection />
      {hasUsage && <UsageSection choice={choice} usage={usage} />}
    </Screen>
  );
}

/** Shown while the demo is the only enabled provider. */
function DemoNote() {
  const { demoNote: names } = useMessages();
  const isDemoOnly = useControlState(({ views }) => {
    const usable = views?.providers.filter(({ enabled }) => enabled) ?? [];
    return usable.length > 0 && usable.every(({ isDemo }) => isDemo);
  });
  if (!isDemoOnly) return null;
  return (
    <p className={classes.note}>
      <IconInfoCircle className={classes.icon} size={18} aria-hidden />
      <span>
        {names.text} <Link href="/providers?add">{names.add}</Link>
      </span>
    </p>
  );
}
