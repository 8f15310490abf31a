import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useMessages } from '../messages/use-messages.ts';
import { useCanChange } from '../state/use-can-change.ts';
import type { CommandRunner } from '../state/use-command.ts';
import classes from './FormActs.module.css';

interface FormActsProps {
  /** Something was entered that is not in force. */
  isChanged: boolean;
  /** As it is entered it must not be saved. */
  isBlocked: boolean;
  /** What saves it. */
  command: Pick<CommandRunner, 'isRunning' | 'problem'>;
  onUndo(): void;
}

/** The end of a form that stays on its screen. While there is something to save, it stays in sight. */
export function FormActs({ isChanged, isBlocked, command, onUndo }: FormActsProps) {
  const { save, saved, undo } = useMessages();
  const canChange = useCanChange();
  const isSaved = useIsSaved(command) && !isChanged;
  return (
    <div className={classes.acts} data-is-changed={isChanged || undefined}>
      <span role="status" className={classes.saved}>
        {isSaved && saved}
      </span>
      <Button size="xs" variant="default" disabled={!isChanged || command.isRunning} onClick={onUndo}>
        {undo}
      </Button>
      <Button size="xs" type="submit" loading={command.isRunning} disabled={!canChange || !isChanged || isBlocked}>
        {save}
      </Button>
    </div>
  );
}

/** The last run of the command did what it should. */
function useIsSaved({ isRunning, problem }: FormActsProps['command']): boolean {
  const [isSaved, setSaved] = useState(false);
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !isRunning) setSaved(problem === null);
    wasRunning.current = isRunning;
  }, [isRunning, problem]);
  return isSaved;
}
