import { Button } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { FirstCall } from '../../../components/first-call/FirstCall.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useKeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { AddressStep } from './AddressStep.tsx';
import classes from './FirstRunPath.module.css';
import type { FirstRun } from './use-first-run.ts';

/** The first steps for a new user. Each is ticked off once it is done, on whatever screen. */
export function FirstRunPath({ progress, dismiss }: Omit<FirstRun, 'isShown'>) {
  const { firstRun: names } = useMessages();
  const choice = useKeyChoice();
  const [isCopied, setCopied] = useState(false);
  const { hasCalled, hasProvider, hasTool } = progress;
  const isDone = hasCalled && hasProvider && hasTool;
  return (
    <Section
      title={isDone ? names.doneTitle : names.title}
      action={
        <Button size="xs" variant={isDone ? 'filled' : 'subtle'} onClick={dismiss}>
          {isDone ? names.finish : names.dismiss}
        </Button>
      }
    >
      <ol className={classes.steps}>
        <Step number={1} title={names.address} text={names.addressText} isDone={isCopied || hasCalled}>
          <AddressStep choice={choice} onCopied={() => setCopied(true)} />
        </Step>
        <Step number={2} title={names.call} text={names.callText} isDone={hasCalled}>
          <FirstCall choice={choice} />
        </Step>
        <Step number={3} title={names.provider} text={names.providerText} isDone={hasProvider}>
          {!hasProvider && <ProviderStep />}
        </Step>
        <Step number={4} title={names.tool} text={names.toolText} isDone={hasTool}>
          <Button size="xs" variant="default" component={Link} href="/connect">
            {names.toolOpen}
          </Button>
        </Step>
      </ol>
    </Section>
  );
}

interface StepProps {
  number: number;
  title: string;
  text: string;
  isDone: boolean;
  children: ReactNode;
}

function Step({ number, title, text, isDone, children }: StepProps) {
  const { firstRun: names } = useMessages();
  return (
    <li className={classes.step} data-is-done={isDone || undefined}>
      <span className={classes.mark} aria-hidden>
        {isDone ? <IconCheck size={15} stroke={2.5} /> : number}
      </span>
      <div className={classes.content}>
        <h3 className={classes.title}>
          {title}
          {isDone && <span className={classes.done}>{names.done}</span>}
        </h3>
        <p className={classes.text}>{text}</p>
        {children}
      </div>
    </li>
  );
}

function ProviderStep() {
  const { firstRun: names } = useMessages();
  const { answer } = useQuery<'environment-credentials'>({ type: 'environment-credentials' });
  const variables = answer?.map(({ variable }) => variable) ?? [];
  return (
    <>
      {variables.length > 0 && <p className={classes.found}>{names.found(variables.join(', '))}</p>}
      <Button size="xs" variant="default" component={Link} href="/providers?add">
        {names.providerOpen}
      </Button>
    </>
  );
}
