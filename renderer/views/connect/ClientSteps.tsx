import { IconAlertTriangle } from '@tabler/icons-react';
import { CopyButton } from '../../components/CopyButton.tsx';
import { CopyLine } from '../../components/CopyLine.tsx';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { ArrivalNote, type ArrivalNoteProps } from './ArrivalNote.tsx';
import classes from './Connect.module.css';
import type { Connection, GuideStep } from './client-guide.ts';

interface ClientStepsProps extends ArrivalNoteProps {
  connection: Connection;
}

/** What to do in one client, one after the other, and whether its request arrived. */
export function ClientSteps({ connection, ...arrival }: ClientStepsProps) {
  const { guide } = arrival;
  const { connect: messages } = useMessages();
  return (
    <Section title={messages.stepsOf(guide.name)}>
      <ol className={classes.steps}>
        {guide.steps.map((step) => (
          <li key={step.say(messages.steps)}>
            <Step step={step} client={guide.name} connection={connection} />
          </li>
        ))}
      </ol>
      <ArrivalNote {...arrival} />
    </Section>
  );
}

function Step({ step, client, connection }: { step: GuideStep; client: string; connection: Connection }) {
  const { connect: messages } = useMessages();
  const text = step.say(messages.steps);
  if ('snippet' in step) {
    return (
      <>
        <p className={classes.text}>{text}</p>
        <Snippet code={step.snippet(connection)} what={messages.snippetOf(client)} />
      </>
    );
  }
  if ('fields' in step) {
    return (
      <>
        <p className={classes.text}>{text}</p>
        <dl className={classes.fields}>
          {step.fields(connection).map(({ label, value }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <CopyLine value={value} what={label} />
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

function Snippet({ code, what }: { code: string; what: string }) {
  return (
    <div className={classes.snippet}>
      <pre className={classes.code}>{code}</pre>
      <div className={classes.copy}>
        <CopyButton value={code} what={what} />
      </div>
    </div>
  );
}
