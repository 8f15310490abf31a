import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import type { CommandRunner } from '../../state/control/use-command.ts';
import { useUnsaved } from '../../state/edits/unsaved-edits.ts';
import { useCanChange } from '../../state/rights/use-rights.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import { EditConflictNotice } from '../feedback/Notices.tsx';
import classes from './FormActions.module.css';

interface FormActionsProps {
  /** Shows the buttons only while there are changes to save. For screens with many forms. */
  isQuiet?: boolean;
  /** The input differs from the values in force. */
  isChanged: boolean;
  /** The current input is invalid and must not be saved. */
  isBlocked?: boolean;
  /**
   * Set if the same values were changed elsewhere meanwhile. Nothing is saved until the person has decided which to
   * keep.
   */
  conflict?: { onKeep(): void } | null;
  /** The command that saves the form. */
  command: Pick<CommandRunner, 'isRunning' | 'problem'>;
  /** Replaces the input with the values in force. */
  onDiscard(): void;
}

/**
 * The end of a form that is directly on its screen. While there are changes to save, it stays visible with whatever
 * prevents saving, and leaving the screen needs confirmation.
 */
export function FormActions(props: FormActionsProps) {
  const { isQuiet = false, isChanged, isBlocked = false, conflict = null, command, onDiscard } = props;
  const { save, saved, discard } = useMessages();
  const canChange = useCanChange();
  const { isRunning, problem } = command;
  const hasButtons = !isQuiet || isChanged || isRunning;
  const isSaved = useIsSaved(command) && !isChanged;
  const hasConflict = conflict !== null && !isRunning;
  useUnsaved(isChanged);
  return (
    <div className={classes.foot} data-is-changed={isChanged || hasConflict || undefined}>
      {hasConflict && <EditConflictNotice onReload={onDiscard} onKeep={conflict.onKeep} />}
      {problem && <CommandProblem problem={problem} />}
      <div className={classes.acts}>
        <span role="status" className={classes.saved}>
          {isSaved && saved}
        </span>
        {hasButtons && (
          <>
            <Button size="xs" variant="default" disabled={!isChanged || isRunning} onClick={onDiscard}>
              {discard}
            </Button>
            <Button
              size="xs"
              type="submit"
              loading={isRunning}
              disabled={!canChange || !isChanged || isBlocked || hasConflict}
            >
              {save}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}

/** Whether the last run of the command succeeded. */
function useIsSaved({ isRunning, problem }: FormActionsProps['command']): boolean {
  const [isSaved, setSaved] = useState(false);
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !isRunning) setSaved(problem === null);
    wasRunning.current = isRunning;
  }, [isRunning, problem]);
  return isSaved;
}
