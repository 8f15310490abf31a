/** The first screen: is it on, how it is reached, what needs attention, and what was asked for at what cost. */
import { SegmentedControl } from '@mantine/core';
import { Screen } from '../../components/Screen.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { AttentionSection } from './AttentionSection.tsx';
import { StatusSection } from './StatusSection.tsx';
import { UsageSection } from './UsageSection.tsx';
import { rangeNames } from './usage-range.ts';
import { useOverviewChoice } from './use-overview-choice.ts';

export function Overview() {
  const { overview: names } = useMessages();
  const choice = useOverviewChoice();
  const ranges = rangeNames.map((value) => ({ value, label: names.ranges[value] }));
  return (
    <Screen
      name="overview"
      action={
        <SegmentedControl
          size="xs"
          aria-label={names.range}
          data={ranges}
          value={choice.range}
          onChange={(range) => choice.choose({ range })}
        />
      }
    >
      <StatusSection />
      <AttentionSection />
      <UsageSection choice={choice} />
    </Screen>
  );
}
