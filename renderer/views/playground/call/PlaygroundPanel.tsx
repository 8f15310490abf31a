import { Button } from '@mantine/core';
import { IconPlayerStopFilled, IconSend } from '@tabler/icons-react';
import type { FormEvent, ReactNode } from 'react';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { KeyChooser } from '../../../components/selects/KeyChooser.tsx';
import { ModelField } from '../../../components/selects/ModelField.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import type { Failure } from '../../../state/calls/exchange.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import type { ModelChoice } from '../../../state/choices/use-model-choice.ts';
import classes from '../Playground.module.css';
import { AutoScrollBox } from './AutoScrollBox.tsx';
import { FailureNote } from './FailureNote.tsx';
import { RawExchange } from './RawExchange.tsx';
import type { ExchangeRunner } from './use-exchange.ts';
import { useModelFromAddress } from './use-model-from-address.ts';

interface PlaygroundPanelProps {
  title: string;
  keyChoice: KeyChoice;
  models: ModelChoice;
  runner: ExchangeRunner;
  /** Reasons why there is no complete answer that `result` does not show. Defaults to the runner's failure. */
  failures?: readonly Failure[];
  /** Shown in the row of key and model. */
  choices?: ReactNode;
  /** Shown beside the send or stop button. */
  actions?: ReactNode;
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
 * The layout of every panel: key and model in one row, the answer, and the form with its errors; beside them the
 * parameters and the raw exchange.
 */
export function PlaygroundPanel(props: PlaygroundPanelProps) {
  const { title, keyChoice, models, runner, choices, result, options, children } = props;
  const { playground: names, models: modelNames } = useMessages();
  useModelFromAddress(models);
  const { failures = [runner.exchange?.failure ?? null] } = props;
  const isRunning = runner.isRunning || (props.isBusy ?? false);
  const canSend = runner.canRun && !props.isIncomplete && models.model.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isRunning && canSend) props.onSend();
  };
  return (
    <div className={classes.panel}>
      <Section title={title}>
        <div className={classes.choices}>
          <KeyChooser choice={keyChoice} />
          <ModelField choice={models} />
          {choices}
          {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
        </div>
        <AutoScrollBox isRunning={isRunning}>{result}</AutoScrollBox>
        <form className={classes.form} onSubmit={submit}>
          {children}
          {withIndexKeys(failures).map(({ key, value }) => (
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
            {props.actions}
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
