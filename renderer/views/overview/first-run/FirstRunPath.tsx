import { Button } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { FirstCall } from '../../../components/first-call/FirstCall.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { KeepQuestion } from '../../../components/recent/RecentNote.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useKeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import type { FirstRun } from '../../../state/first-run/use-first-run.ts';
import { AddressStep } from './AddressStep.tsx';
import classes from './FirstRunPath.module.css';

/** The first steps for a new user. Each is ticked off once it is done, on whatever screen. */
export function FirstRunPath({ progress, end }: Omit<FirstRun, 'isShown'>) {
  const { firstRun: names } = useMessages();
  const choice = useKeyChoice();
  const [isCopied, setCopied] = useState(false);
  const { hasCalled, hasProvider, hasTool } = progress;
  const isDone = hasCalled && hasProvider && hasTool;
  return (
    <Section
      title={isDone ? names.doneTitle : names.title}
      action={
        <Button size="xs" variant={isDone ? 'filled' : 'subtle'} loading={end.command.isRunning} onClick={end.run}>
          {isDone ? names.finish : names.dismiss}
        </Button>
      }
    >
      {end.command.problem && <CommandProblem problem={end.command.problem} />}
      <ol className={classes.steps}>
        <Step number={1} title={names.provider} text={names.providerText} isDone={hasProvider}>
          {!hasProvider && <ProviderStep />}
        </Step>
        <Step number={2} title={names.call} text={names.callText} isDone={hasCalled}>
          <FirstCall choice={choice} />
        </Step>
        <Step number={3} title={names.address} text={names.addressText} isDone={isCopied || hasCalled}>
          <AddressStep choice={choice} onCopied={() => setCopied(true)} />
        </Step>
        <Step number={4} title={names.tool} text={names.toolText} isDone={hasTool}>
          <div className={classes.services}>
            {usualTools.map(([client, name]) => (
              <Button key={client} size="xs" variant="default" component={Link} href={`/connect/${client}`}>
                {name}
              </Button>
            ))}
            <Button size="xs" variant="default" component={Link} href="/connect">
              {names.toolOpen}
            </Button>
          </div>
        </Step>
      </ol>
      <KeepQuestion />
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

/** The services that most people have, one click from their form. */
const usualServices: readonly (readonly [preset: string, name: string])[] = [
  ['openai', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['gemini', 'Google Gemini'],
  ['openrouter', 'OpenRouter'],
  ['ollama', 'Ollama'],
];

/** The tools that Sluice sets up in three clicks from here. */
const usualTools: readonly (readonly [client: string, name: string])[] = [
  ['claude-code', 'Claude Code'],
  ['codex', 'Codex CLI'],
  ['opencode', 'opencode'],
];

function ProviderStep() {
  const { firstRun: names } = useMessages();
  const { answer } = useQuery<'environment-credentials'>({ type: 'environment-credentials' });
  const variables = answer?.map(({ variable }) => variable) ?? [];
  return (
    <>
      {variables.length > 0 && <p className={classes.found}>{names.found(variables.join(', '))}</p>}
      <div className={classes.services}>
        {usualServices.map(([preset, name]) => (
          <Button
            key={preset}
            size="xs"
            variant="default"
            component={Link}
            href={`/providers?add=guide&preset=${preset}`}
          >
            {name}
          </Button>
        ))}
        <Button size="xs" variant="default" component={Link} href="/providers?add">
          {names.providerOpen}
        </Button>
      </div>
    </>
  );
}
