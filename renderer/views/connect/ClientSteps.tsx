import { Button } from '@mantine/core';
import { IconAlertTriangle, IconTerminal2 } from '@tabler/icons-react';
import type { ClientGuide, Connection, GuideStep } from '../../../server/contract/clients/client-guide.ts';
import { stepsOf } from '../../../server/contract/clients/client-guides.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import { shellWord } from '../../../server/contract/shell-words.ts';
import { CopyButton, CopyLine } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useDesktop } from '../../state/window/use-desktop.ts';
import { ArrivalNote, type ArrivalNoteProps } from './ArrivalNote.tsx';
import classes from './Connect.module.css';

interface ClientStepsProps extends Omit<ArrivalNoteProps, 'clientId'> {
  guide: ClientGuide;
  connection: Connection;
  /** The key to start the client with in a terminal; null if that cannot be done from here. */
  terminalKey: string | null;
  /** The chosen model; empty if there is none. */
  model: string;
  /** Puts the key where its placeholder is shown. */
  withKey: WithKey;
}

export type WithKey = (text: string) => Promise<string | null>;

/** The steps to set up one client, and whether its requests have arrived. */
export function ClientSteps({ guide, connection, terminalKey, model, withKey, ...arrival }: ClientStepsProps) {
  const { connect: messages } = useMessages();
  return (
    <Section title={messages.stepsOf(guide.name)}>
      <ol className={classes.steps}>
        {stepsOf(guide, connection).map((step) => (
          <li key={formatMessage(messages.steps, step.say)}>
            <Step step={step} client={guide.name} withKey={withKey} />
          </li>
        ))}
      </ol>
      {guide.isFromTerminal && terminalKey !== null && <TerminalOpener keyId={terminalKey} model={model} />}
      <ArrivalNote clientId={guide.id} {...arrival} />
    </Section>
  );
}

/** Opens a terminal that has the key in its environment. A browser cannot, and shows the command that does. */
function TerminalOpener({ keyId, model }: { keyId: string; model: string }) {
  const { connect: messages } = useMessages();
  const desktop = useDesktop();
  if (!desktop) {
    const command = `sluice terminal --key ${shellWord(keyId)}${model && ` --model ${shellWord(model)}`}`;
    return (
      <div className={classes.terminal}>
        <p className={classes.text}>{messages.terminalCommand}</p>
        <CopyLine value={command} label="sluice terminal" />
      </div>
    );
  }
  return (
    <div className={classes.terminal}>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconTerminal2 size={14} />}
        onClick={() => desktop.run('openTerminal', { key: keyId, model: model || null })}
      >
        {messages.openTerminal}
      </Button>
      <p className={classes.text}>{messages.openTerminalHint}</p>
      {desktop.problem && <CommandProblem problem={desktop.problem} />}
    </div>
  );
}

function Step({ step, client, withKey }: { step: GuideStep; client: string; withKey: WithKey }) {
  const { connect: messages } = useMessages();
  const text = formatMessage(messages.steps, step.say);
  if ('snippet' in step) {
    return (
      <>
        <p className={classes.text}>{text}</p>
        <Snippet code={step.snippet} label={messages.snippetOf(client)} withKey={withKey} />
      </>
    );
  }
  if ('fields' in step) {
    return (
      <>
        <p className={classes.text}>{text}</p>
        <dl className={classes.fields}>
          {step.fields.map(({ label, value }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <CopyLine value={value} copied={() => withKey(value)} label={label} />
              </dd>
            </div>
          ))}
        </dl>
      </>
    );
  }
  return (
    <p className={step.isWarning ? classes.warning : classes.text}>
      {step.isWarning && <IconAlertTriangle size={16} className={classes.icon} aria-hidden />}
      <span>{text}</span>
    </p>
  );
}

/** A code block with a copy button, which copies what works: the key itself, though it is not shown. */
export function Snippet({ code, label, withKey }: { code: string; label: string; withKey: WithKey }) {
  return (
    <div className={classes.snippet}>
      <pre className={classes.code}>{code}</pre>
      <div className={classes.copy}>
        <CopyButton value={() => withKey(code)} label={label} />
      </div>
    </div>
  );
}
