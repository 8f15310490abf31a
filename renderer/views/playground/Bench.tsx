import { Button } from '@mantine/core';
import { IconPlayerStopFilled, IconSend } from '@tabler/icons-react';
import type { FormEvent, ReactNode } from 'react';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Playground.module.css';
import { RawExchange } from './RawExchange.tsx';
import type { ExchangeRunner } from './use-exchange.ts';

interface BenchProps {
  title: string;
  runner: ExchangeRunner;
  /** Beside the acts of sending and stopping. */
  acts?: ReactNode;
  /** What came back. */
  result: ReactNode;
  /** What is still missing before it can be sent. */
  isIncomplete?: boolean;
  /** The runner rests, but the whole act is not over. */
  isBusy?: boolean;
  onSend(): void;
  onStop?: () => void;
  /** Fields that are seldom changed, below the acts. */
  options?: ReactNode;
  /** The fields. */
  children: ReactNode;
}

/** A form, what came of it, and beside both the raw request and reply. */
export function Bench(props: BenchProps) {
  const {
    title,
    runner,
    acts,
    result,
    isIncomplete = false,
    isBusy = false,
    onSend,
    onStop,
    options,
    children,
  } = props;
  const { playground: names } = useMessages();
  const isRunning = runner.isRunning || isBusy;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isRunning && runner.canRun && !isIncomplete) onSend();
  };
  return (
    <div className={classes.bench}>
      <Section title={title}>
        <div className={classes.result} aria-live="polite">
          {result}
          <Failure runner={runner} />
        </div>
        <form className={classes.form} onSubmit={submit}>
          {children}
          <div className={classes.acts}>
            {isRunning ? (
              <Button
                size="xs"
                variant="default"
                leftSection={<IconPlayerStopFilled size={14} />}
                onClick={onStop ?? runner.stop}
              >
                {names.stop}
              </Button>
            ) : (
              <Button
                size="xs"
                type="submit"
                leftSection={<IconSend size={14} />}
                disabled={!runner.canRun || isIncomplete}
              >
                {names.send}
              </Button>
            )}
            {acts}
          </div>
          {options}
        </form>
      </Section>
      <RawExchange exchange={runner.exchange} />
    </div>
  );
}

function Failure({ runner }: { runner: ExchangeRunner }) {
  const { playground: names } = useMessages();
  const failure = runner.exchange?.failure ?? null;
  if (!failure) return null;
  if (failure.kind === 'stopped') return <p className={classes.soft}>{names.stopped}</p>;
  return (
    <p className={classes.bad} role="alert">
      {failure.kind === 'refused' ? failure.message : names[failure.kind]}
    </p>
  );
}
