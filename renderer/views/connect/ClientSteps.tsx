import { IconAlertTriangle } from '@tabler/icons-react';
import type { ClientGuide, Connection, GuideStep } from '../../../server/contract/clients/client-guide.ts';
import { stepsOf } from '../../../server/contract/clients/client-guides.ts';
import { formatMessage } from '../../../server/contract/coded.ts';
import { CopyButton } from '../../components/copying/CopyButton.tsx';
import { CopyLine } from '../../components/copying/CopyLine.tsx';
import { Section } from '../../components/layout/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { ArrivalNote, type ArrivalNoteProps } from './ArrivalNote.tsx';
import classes from './Connect.module.css';

interface ClientStepsProps extends Omit<ArrivalNoteProps, 'clientId'> {
  guide: ClientGuide;
  connection: Connection;
  /** Puts the key where its placeholder is shown. */
  withKey: WithKey;
}

export type WithKey = (text: string) => Promise<string | null>;

/** The steps to set up one client, and whether its requests have arrived. */
export function ClientSteps({ guide, connection, withKey, ...arrival }: ClientStepsProps) {
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
      <ArrivalNote clientId={guide.id} {...arrival} />
    </Section>
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
