import { Button } from '@mantine/core';
import { IconAlertTriangle, IconTerminal2 } from '@tabler/icons-react';
import type { ClientGuide, Connection, GuideStep } from '../../../server/contract/clients/client-guide.ts';
import { arrangeSteps, stepsOf } from '../../../server/contract/clients/client-guides.ts';
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
  copied: CopiedKey;
}

/** The key in what is copied, where only its placeholder is shown. */
export interface CopiedKey {
  /** Puts it in. */
  into(text: string): Promise<string | null>;
  /** Says so below such a text; null if it has none to say, because it shows the key. */
  noteOn(text: string): string | null;
}

/** The steps to set up one client, and whether its requests have arrived. */
export function ClientSteps({ guide, connection, terminalKey, model, copied, ...arrival }: ClientStepsProps) {
  const { connect: messages } = useMessages();
  const { before, acts } = arrangeSteps(stepsOf(guide, connection));
  const shown = (step: GuideStep) => (
    <Step key={formatMessage(messages.steps, step.say)} step={step} client={guide.name} copied={copied} />
  );
  return (
    <Section title={messages.stepsOf(guide.name)}>
      {before.length > 0 && <div className={classes.before}>{before.map(shown)}</div>}
      <ol className={acts.length > 1 ? classes.steps : classes.onlyStep}>
        {acts.map(({ step, notes }) => (
          <li key={formatMessage(messages.steps, step.say)}>
            {shown(step)}
            {notes.length > 0 && <div className={classes.notes}>{notes.map(shown)}</div>}
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

function Step({ step, client, copied }: { step: GuideStep; client: string; copied: CopiedKey }) {
  const { connect: messages } = useMessages();
  const text = formatMessage(messages.steps, step.say);
  if ('snippet' in step) {
    return (
      <>
        <p className={classes.text}>{text}</p>
        <Snippet code={step.snippet} label={messages.snippetOf(client)} copied={copied} />
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
                <CopyLine value={value} copied={() => copied.into(value)} label={label} />
              </dd>
            </div>
          ))}
        </dl>
        <CopyNote text={step.fields.map(({ value }) => value).join('\n')} copied={copied} />
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
export function Snippet({ code, label, copied }: { code: string; label: string; copied: CopiedKey }) {
  return (
    <>
      <div className={classes.snippet}>
        <pre className={classes.code}>{code}</pre>
        <div className={classes.copy}>
          <CopyButton value={() => copied.into(code)} label={label} />
        </div>
      </div>
      <CopyNote text={code} copied={copied} />
    </>
  );
}

function CopyNote({ text, copied }: { text: string; copied: CopiedKey }) {
  const note = copied.noteOn(text);
  return note !== null && <p className={classes.copyNote}>{note}</p>;
}
