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
}

/** The steps to set up one client, and whether its requests have arrived. */
export function ClientSteps({ guide, connection, ...arrival }: ClientStepsProps) {
  const { connect: messages } = useMessages();
  return (
    <Section title={messages.stepsOf(guide.name)}>
      <ol className={classes.steps}>
        {stepsOf(guide, connection).map((step) => (
          <li key={formatMessage(messages.steps, step.say)}>
            <Step step={step} client={guide.name} />
          </li>
        ))}
      </ol>
      <ArrivalNote clientId={guide.id} {...arrival} />
    </Section>
  );
}

function Step({ step, client }: { step: GuideStep; client: string }) {
  const { connect: messages } = useMessages();
  const text = formatMessage(messages.steps, step.say);
  if ('snippet' in step) {
    return (
      <>
        <p className={classes.text}>{text}</p>
        <Snippet code={step.snippet} label={messages.snippetOf(client)} />
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
                <CopyLine value={value} label={label} />
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

/** A code block with a copy button. */
export function Snippet({ code, label }: { code: string; label: string }) {
  return (
    <div className={classes.snippet}>
      <pre className={classes.code}>{code}</pre>
      <div className={classes.copy}>
        <CopyButton value={code} label={label} />
      </div>
    </div>
  );
}
