import { Button } from '@mantine/core';
import { IconPlayerStopFilled, IconSend } from '@tabler/icons-react';
import type { FormEvent, ReactNode } from 'react';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { KeyChooser } from '../../components/KeyChooser.tsx';
import { ModelField } from '../../components/ModelField.tsx';
import { Section } from '../../components/Section.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import type { ModelChoice } from '../../state/use-model-choice.ts';
import { numbered } from '../request/numbered.ts';
import type { Failure } from './exchange.ts';
import { FailureNote } from './FailureNote.tsx';
import { FollowingBox } from './FollowingBox.tsx';
import classes from './Playground.module.css';
import { RawExchange } from './RawExchange.tsx';
import { useAddressedModel } from './use-addressed-model.ts';
import type { ExchangeRunner } from './use-exchange.ts';

interface BenchProps {
  title: string;
  keyChoice: KeyChoice;
  models: ModelChoice;
  runner: ExchangeRunner;
  /** Reasons why there is no complete answer that `result` does not show. Defaults to the runner's failure. */
  failures?: readonly Failure[];
  /** Shown in the row of key and model. */
  choices?: ReactNode;
  /** Shown beside the send or stop button. */
  acts?: ReactNode;
  /** The answer. */
  result: ReactNode;
  /** Something required is still missing. */
  isIncomplete?: boolean;
  /** The runner is idle, but the operation is not finished. */
  isBusy?: boolean;
  onSend(): void;
  onStop?: () => void;
  /** Rarely changed fields, shown beside the form. */
  options?: ReactNode;
  /** The fields of the form. */
  children: ReactNode;
}

/**
 * The layout of every bench: key and model in one row, the answer, and the form with its errors; beside them the
 * parameters and the raw exchange.
 */
export function Bench(props: BenchProps) {
  const { title, keyChoice, models, runner, choices, result, options, children } = props;
  const { playground: names, models: modelNames } = useMessages();
  useAddressedModel(models);
  const { failures = [runner.exchange?.failure ?? null] } = props;
  const isRunning = runner.isRunning || (props.isBusy ?? false);
  const canSend = runner.canRun && !props.isIncomplete && models.model.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isRunning && canSend) props.onSend();
  };
  return (
    <div className={classes.bench}>
      <Section title={title}>
        <div className={classes.choices}>
          <KeyChooser choice={keyChoice} />
          <ModelField choice={models} />
          {choices}
          {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
        </div>
        <FollowingBox isRunning={isRunning}>{result}</FollowingBox>
        <form className={classes.form} onSubmit={submit}>
          {children}
          {numbered(failures).map(({ key, value }) => (
            <FailureNote key={key} failure={value} />
          ))}
          {models.isLoaded && models.model === '' && (
            <p className={classes.soft}>{models.models.length > 0 ? names.noModelFor : modelNames.picker.none}</p>
          )}
          <div className={classes.acts}>
            {isRunning ? (
              <Button
                size="xs"
                variant="default"
                leftSection={<IconPlayerStopFilled size={14} />}
                onClick={props.onStop ?? runner.stop}
              >
                {names.stop}
              </Button>
            ) : (
              <Button size="xs" type="submit" leftSection={<IconSend size={14} />} disabled={!canSend}>
                {names.send}
              </Button>
            )}
            {props.acts}
          </div>
        </form>
      </Section>
      <div className={classes.side}>
        {options && (
          <Section title={names.parameters}>
            <div className={classes.raw}>{options}</div>
          </Section>
        )}
        <RawExchange exchange={runner.exchange} />
      </div>
    </div>
  );
}
