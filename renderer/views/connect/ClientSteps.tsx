import { Button } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheckFilled, IconLoader, IconTerminal2 } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import type { ClientGuide, Connection, GuideStep } from '../../../server/contract/clients/client-guide.ts';
import { arrangeSteps, stepsOf } from '../../../server/contract/clients/client-guides.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import { isIdentifiable } from '../../../server/contract/known-clients.ts';
import type { RefusalView } from '../../../server/contract/request-views.ts';
import { shellWord } from '../../../server/contract/shell-words.ts';
import { CopyButton, CopyLine } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { RelativeTime } from '../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { errorText } from '../../state/requests/failures.ts';
import { useDesktop } from '../../state/window/use-desktop.ts';
import { type ClientUses, latestArrival, latestKeyUse, latestRefusal } from './arrival.ts';
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
        <CopyButton value={() => copied.into(code)} label={label} />
      </div>
      <CopyNote text={code} copied={copied} />
    </>
  );
}

function CopyNote({ text, copied }: { text: string; copied: CopiedKey }) {
  const note = copied.noteOn(text);
  return note !== null && <p className={classes.copyNote}>{note}</p>;
}

interface ArrivalNoteProps {
  clientId: string;
  clientKey: KeyView | null;
  fromLedger: ClientUses['fromLedger'];
}

/**
 * Whether requests of the client have arrived. The client is recognised by the name its requests give, otherwise by the
 * key.
 */
function ArrivalNote(props: ArrivalNoteProps) {
  return isIdentifiable(props.clientId) ? <ArrivalByName {...props} /> : <ArrivalByKey {...props} />;
}

function ArrivalByName({ clientId, fromLedger }: ArrivalNoteProps) {
  const { connect: messages } = useMessages();
  const arrivedAt = useControlState(({ requests }) => latestArrival(clientId, { requests, fromLedger }));
  const refusal = useControlState(({ views }) => latestRefusal(clientId, views?.refusals ?? [], arrivedAt));
  if (refusal) return <RefusalNote refusal={refusal} />;
  if (arrivedAt === null) return <Note hasArrived={false}>{messages.waiting}</Note>;
  return (
    <Note hasArrived>
      <RelativeTime moment={arrivedAt} phrase={messages.arrived} />
    </Note>
  );
}

function ArrivalByKey({ clientKey, fromLedger }: ArrivalNoteProps) {
  const {
    messages: { connect: messages },
    formats,
  } = useLocalization();
  const latest = (requests: ClientUses['requests']) =>
    clientKey && latestKeyUse(clientKey.id, { requests, fromLedger });
  const usedAt = useControlState(({ requests }) => latest(requests)?.lastUsedAt ?? null);
  const client = useControlState(({ requests }) => latest(requests)?.client ?? '');
  return (
    <Note hasArrived={usedAt !== null}>
      {usedAt === null ? (
        messages.waitingByKey
      ) : (
        <RelativeTime moment={usedAt} phrase={(ago) => messages.arrivedByKey(ago, client)} />
      )}
      {formats.gap}
      {messages.notTold}
    </Note>
  );
}

function Note({ hasArrived, children }: { hasArrived: boolean; children: ReactNode }) {
  const Icon = hasArrived ? IconCircleCheckFilled : IconLoader;
  return (
    <div className={classes.arrival} role="status">
      <Icon size={16} className={hasArrived ? classes.arrived : classes.icon} aria-hidden />
      <span>{children}</span>
    </div>
  );
}

function RefusalNote({ refusal }: { refusal: RefusalView }) {
  const { connect: messages, requests } = useMessages();
  const explanation = errorText(refusal.reason, requests.errors);
  return (
    <div className={classes.arrival} role="status">
      <IconAlertTriangle size={16} className={classes.bad} aria-hidden />
      <span>
        <RelativeTime moment={refusal.lastAt} phrase={messages.arrivedAndRefused} /> {explanation}
      </span>
    </div>
  );
}
