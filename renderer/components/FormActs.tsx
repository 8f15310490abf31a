import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useMessages } from '../messages/use-messages.ts';
import { useCanChange } from '../state/use-can-change.ts';
import type { CommandRunner } from '../state/use-command.ts';
import { useUnsaved } from '../state/use-unsaved.ts';
import { CommandProblem } from './CommandProblem.tsx';
import classes from './FormActs.module.css';
import { OvertakenNotice } from './OvertakenNotice.tsx';

interface FormActsProps {
  /** Its buttons show only while there is something to save: for a screen of many forms. */
  isQuiet?: boolean;
  /** Something was entered that is not in force. */
  isChanged: boolean;
  /** As it is entered it must not be saved. */
  isBlocked?: boolean;
  /** Set where the same was changed elsewhere meanwhile; nothing is saved before the person has said which is to hold. */
  overtaken?: { onKeep(): void } | null;
  /** What saves it. */
  command: Pick<CommandRunner, 'isRunning' | 'problem'>;
  /** Takes what is in force in place of what was entered. */
  onDiscard(): void;
}

/**
 * The end of a form that stays on its screen. While there is something to save it stays in sight, with all that stands in
 * the way, and nobody leaves the screen without being asked.
 */
export function FormActs(props: FormActsProps) {
  const { isQuiet = false, isChanged, isBlocked = false, overtaken = null, command, onDiscard } = props;
  const { save, saved, discard } = useMessages();
  const canChange = useCanChange();
  const { isRunning, problem } = command;
  const hasButtons = !isQuiet || isChanged || isRunning;
  const isSaved = useIsSaved(command) && !isChanged;
  const isOvertaken = overtaken !== null && !isRunning;
  useUnsaved(isChanged);
  return (
    <div className={classes.foot} data-is-changed={isChanged || isOvertaken || undefined}>
      {isOvertaken && <OvertakenNotice onReload={onDiscard} onKeep={overtaken.onKeep} />}
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
              disabled={!canChange || !isChanged || isBlocked || isOvertaken}
            >
              {save}
            </Button>
          </>
        )}
      </div>
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
