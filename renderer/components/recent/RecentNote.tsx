import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { CommandProblem } from '../feedback/CommandProblem.tsx';
import classes from './RecentNote.module.css';

/**
 * Says that the newest requests are kept in memory, as long as they are, with the way to end it. Once the guide is gone, it asks
 * what the guide was not told.
 */
export function RecentNote() {
  const { recentCapture: names } = useMessages();
  const isKept = useControlState(({ views }) => views !== null && views.status.recentCapture !== null);
  const isUnasked = useIsUnasked();
  const isGuideOpen = useControlState(({ views }) => views?.status.settings.guide === 'open');
  if (!isKept) return null;
  if (isUnasked && !isGuideOpen) return <Question isSmall />;
  return (
    <div className={classes.note} role="note">
      <span>{names.note}</span>
      <EndButton />
    </div>
  );
}

function EndButton() {
  const { recentCapture: names } = useMessages();
  const command = useCommand();
  const end = () => void command.run({ type: 'settings.update', changes: { capture: { recent: 'off' } } });
  return (
    <>
      <Button size="compact-xs" variant="default" aria-label={names.endNamed} loading={command.isRunning} onClick={end}>
        {names.end}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}

/**
 * What becomes of what is sent and answered: asked once, and afterwards the answer, which can be changed.
 * `isOver`: the guide around it is about to be closed, so that only a question still open stands there.
 */
export function KeepQuestion({ isOver }: { isOver: boolean }) {
  const isAsked = useIsUnasked();
  const isAnswered = useControlState(
    ({ views }) => views !== null && views.status.settings.capture.recent !== 'unasked',
  );
  const [isChanging, setChanging] = useState(false);
  if (isAsked || (isAnswered && isChanging)) return <Question isAlone={isOver} onAnswered={() => setChanging(false)} />;
  return isAnswered && !isOver && <Answer onChange={() => setChanging(true)} />;
}

const useIsUnasked = () => useControlState(({ views }) => views?.status.recentCapture === 'unasked');

/** Whether all groups keep what is sent and answered. */
function useIsKept(): boolean {
  return useControlState(({ views }) => !!views?.groups.length && views.groups.every(({ capture }) => capture));
}

const useDaysKept = () => useControlState(({ views }) => views?.status.settings.capture.retentionDays ?? 0);

function Answer({ onChange }: { onChange(): void }) {
  const { messages, formats } = useLocalization();
  const { recentCapture: names } = messages;
  const isInMemory = useControlState(({ views }) => views?.status.recentCapture === 'on');
  const isKept = useIsKept();
  const days = useDaysKept();
  return (
    <div className={`${classes.note} ${classes.answer}`} role="note">
      <span>{isKept ? names.kept(days, formats.number(days)) : isInMemory ? names.note : names.notKept}</span>
      {isInMemory && !isKept && <EndButton />}
      <Button size="compact-xs" variant="default" aria-label={names.changeNamed} onClick={onChange}>
        {names.change}
      </Button>
    </div>
  );
}

interface QuestionProps {
  /** A line outside of the guide. */
  isSmall?: boolean;
  /** Below no steps. */
  isAlone?: boolean;
  onAnswered?(): void;
}

function Question({ isSmall = false, isAlone = false, onAnswered }: QuestionProps) {
  const { messages, formats } = useLocalization();
  const { recentCapture: names } = messages;
  const isUnasked = useIsUnasked();
  const groups = useControlState(({ views }) => views?.groups ?? null);
  const isKept = useIsKept();
  const days = useDaysKept();
  const command = useCommand();
  const answer = async (keeps: boolean, recent: 'on' | 'off') => {
    const changed = groups?.filter(({ capture }) => (keeps ? !capture : isKept)) ?? [];
    for (const { keyCount: _, limitUse: __, ...group } of changed) {
      if (!(await command.run({ type: 'group.put', group: { ...group, capture: keeps } }))) return;
    }
    if (await command.run({ type: 'settings.update', changes: { capture: { recent } } })) onAnswered?.();
  };
  const size = isSmall ? 'compact-xs' : 'xs';
  return (
    <section
      className={isSmall ? classes.note : classes.question}
      data-alone={isAlone || undefined}
      aria-label={names.question}
    >
      {isSmall ? (
        <span>{[names.question, isUnasked && names.untilAnswered].filter(Boolean).join(formats.gap)}</span>
      ) : (
        <>
          <h3 className={classes.title}>{names.question}</h3>
          <p className={classes.text}>
            {names.questionText}
            {isUnasked && `${formats.gap}${names.untilAnswered}`}
          </p>
        </>
      )}
      {command.problem && <CommandProblem problem={command.problem} />}
      <div className={classes.answers}>
        <Button size={size} variant="default" disabled={command.isRunning} onClick={() => void answer(true, 'off')}>
          {names.keepDays(days, formats.number(days))}
        </Button>
        <Button size={size} variant="default" disabled={command.isRunning} onClick={() => void answer(false, 'on')}>
          {names.keepNewest}
        </Button>
        <Button size={size} variant="default" disabled={command.isRunning} onClick={() => void answer(false, 'off')}>
          {names.keepNothing}
        </Button>
      </div>
    </section>
  );
}
