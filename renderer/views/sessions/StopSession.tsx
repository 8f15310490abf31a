import { Button } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import { useState } from 'react';
import type { SessionView } from '../../../server/contract/session-views.ts';
import { ConfirmDialog } from '../../components/dialogs/ConfirmDialog.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { isRefused } from './session-facts.ts';

/** What a command has changed in a session, until the engine's next answer. */
export type StateChange = Partial<Pick<SessionView, 'stoppedAt' | 'isOverBudget'>>;

/** Refuses further requests of a session after confirmation, or allows them again. */
export function StopSession({ session, onChanged }: { session: SessionView; onChanged(change: StateChange): void }) {
  const { id } = session;
  const { sessions: names } = useMessages();
  const { run, isRunning, problem, forget } = useCommand();
  const isOpen = useControlState((state) => state.connection === 'open');
  const [isAsking, setAsking] = useState(false);
  const change = async (type: 'session.stop' | 'session.resume') => {
    if (!(await run({ type, id }))) return;
    setAsking(false);
    onChanged(type === 'session.stop' ? { stoppedAt: Date.now() } : { stoppedAt: null, isOverBudget: false });
  };
  if (isRefused(session)) {
    return (
      <>
        {problem && <CommandProblem problem={problem} />}
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          disabled={!isOpen}
          loading={isRunning}
          onClick={() => void change('session.resume')}
        >
          {names.resume}
        </Button>
      </>
    );
  }
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlayerStop size={14} aria-hidden />}
        disabled={!isOpen}
        onClick={() => {
          forget();
          setAsking(true);
        }}
      >
        {names.stop.open}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        title={names.stop.title}
        text={names.stop.text}
        confirm={names.stop.confirm}
        isRunning={isRunning}
        problem={problem}
        onConfirm={() => void change('session.stop')}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
