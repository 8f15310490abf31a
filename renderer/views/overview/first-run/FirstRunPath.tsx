import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { FirstCall } from '../../../components/first-call/FirstCall.tsx';
import classes from '../../../components/first-call/Steps.module.css';
import { AddressStep, Step, ToolLinks } from '../../../components/first-call/Steps.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { KeepQuestion } from '../../../components/recent/RecentNote.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useKeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { doneSteps, type FirstRun, stepCount, useAddressCopied } from '../../../state/first-run/use-first-run.ts';

/** The first steps for a new user. Each is ticked off once it is done, on whatever screen; of all of them one line is left. */
export function FirstRunPath({ progress, end }: Omit<FirstRun, 'isShown'>) {
  const { firstRun: names } = useMessages();
  const choice = useKeyChoice();
  const [, noteCopied] = useAddressCopied();
  const { hasCalled, hasAddress, hasProvider, hasTool } = progress;
  const isDone = doneSteps(progress) === stepCount;
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
      {!isDone && (
        <ol className={classes.steps}>
          <Step number={1} title={names.provider} text={names.providerText} isDone={hasProvider}>
            {!hasProvider && <ProviderStep />}
          </Step>
          <Step
            number={2}
            title={names.call}
            text={hasProvider ? names.ownCallText : names.callText}
            isDone={hasCalled}
          >
            <FirstCall choice={choice} />
          </Step>
          <Step number={3} title={names.address} text={names.addressText} isDone={hasAddress}>
            <AddressStep choice={choice} onCopied={noteCopied} />
          </Step>
          <Step number={4} title={names.tool} text={names.toolText} isDone={hasTool}>
            <ToolLinks />
          </Step>
        </ol>
      )}
      <KeepQuestion isOver={isDone} />
    </Section>
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
        <Button size="xs" variant="default" component={Link} href="/providers?add=guide">
          {names.providerOpen}
        </Button>
        <Button size="xs" variant="default" component={Link} href="/providers?add=guide&address=">
          {names.providerAddress}
        </Button>
      </div>
    </>
  );
}
