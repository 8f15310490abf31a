import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { RunawayView } from '../../../server/contract/limits.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import classes from './AttentionSection.module.css';

/** A prompt that is slowed, and the click that allows it. */
export function RunawayConcern({ name, runaway }: { name: string; runaway: RunawayView }) {
  const { messages, formats } = useLocalization();
  const { texts, mends } = messages.attention;
  const command = useCommand();
  const { keyId, requestsPerMinute, refused } = runaway;
  return (
    <div className={classes.concern}>
      <IconAlertTriangle className={classes.bad} size={18} aria-hidden />
      <span className={classes.text}>
        {texts.runaway(name, formats.number(requestsPerMinute), formats.number(refused))}
        {command.problem && <CommandProblem problem={command.problem} />}
      </span>
      <Button
        size="xs"
        variant="default"
        loading={command.isRunning}
        onClick={() => void command.run({ type: 'runaway.allow', key: keyId })}
      >
        {mends.runaway}
      </Button>
    </div>
  );
}
