import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheckFilled } from '@tabler/icons-react';
import { useState } from 'react';
import type { Connection } from '../../../server/contract/clients/client-guide.ts';
import type { ConnectClientView } from '../../../server/contract/connect-views.ts';
import { shellWord } from '../../../server/contract/shell-words.ts';
import { Section } from '../../components/layout/Section.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { ChangeDialog, namesOf } from './ChangeDialog.tsx';
import { type CopiedKey, Snippet } from './ClientSteps.tsx';
import classes from './Connect.module.css';
import { TestOutcomeNote, useTestCall } from './TestCall.tsx';

interface ApplyPanelProps {
  view: ConnectClientView;
  connection: Connection;
  keyChoice: KeyChoice;
  copied: CopiedKey;
  /** Called after files were written. */
  onChanged(): void;
}

/** Writes the client's configuration file after showing the change, and can undo it. */
export function ApplyPanel({ view, connection, keyChoice, copied, onChanged }: ApplyPanelProps) {
  const {
    messages: { connect: messages },
    formats,
  } = useLocalization();
  const [dialog, setDialog] = useState<'apply' | 'undo' | null>(null);
  const [keyVariable, setKeyVariable] = useState<string | null>(null);
  const test = useTestCall(keyChoice, connection.model);
  const { applied } = view;
  const close = () => setDialog(null);
  const done = (variable: string | null) => {
    setKeyVariable(dialog === 'apply' ? variable : null);
    if (dialog === 'apply' && test.isPossible) void test.run();
    close();
    onChanged();
  };
  const canApply = keyChoice.key !== null && connection.model !== '';
  return (
    <Section title={messages.applyTitle}>
      <div className={classes.apply}>
        {applied && applied.stronger.length > 0 ? (
          <p className={classes.warning} role="status">
            <IconAlertTriangle size={16} className={classes.icon} aria-hidden />
            <span>{messages.appliedInVain(applied.model, formats.list(namesOf(applied.stronger, messages)))}</span>
          </p>
        ) : applied?.hasOldKey ? (
          <p className={classes.warning} role="status">
            <IconAlertTriangle size={16} className={classes.icon} aria-hidden />
            <span>{messages.appliedWithOldKey(view.name)}</span>
          </p>
        ) : applied ? (
          <p className={classes.applied} role="status">
            <IconCircleCheckFilled size={16} className={classes.arrived} aria-hidden />
            <RelativeTime moment={applied.appliedAt} phrase={(ago) => messages.applied(applied.model, ago)} />
          </p>
        ) : (
          <p className={classes.text}>{messages.applyLead(view.files.join(', '))}</p>
        )}
        <div className={classes.acts}>
          <Button
            size="xs"
            variant={applied && !applied.hasOldKey ? 'default' : 'filled'}
            disabled={!canApply}
            onClick={() => setDialog('apply')}
          >
            {applied?.hasOldKey && keyChoice.key
              ? messages.giveKey(keyChoice.key.name ?? keyChoice.key.id)
              : messages.reviewChange}
          </Button>
          {applied && (
            <Button size="xs" variant="default" onClick={() => setDialog('undo')}>
              {messages.undo}
            </Button>
          )}
        </div>
        {applied && <TestOutcomeNote outcome={test.outcome} model={connection.model} />}
        {applied && keyVariable !== null && (
          <>
            <p className={classes.text}>{messages.keyInEnvironment}</p>
            <Snippet
              code={`export ${keyVariable}=${shellWord(connection.key)}`}
              label={messages.snippetOf(view.name)}
              copied={copied}
            />
          </>
        )}
      </div>
      {dialog && (
        <ChangeDialog
          kind={dialog}
          view={view}
          model={connection.model}
          keyChoice={keyChoice}
          onClose={close}
          onDone={done}
        />
      )}
    </Section>
  );
}
