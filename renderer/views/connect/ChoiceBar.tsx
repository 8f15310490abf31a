import { Button } from '@mantine/core';
import { IconEye, IconEyeOff, IconPlugConnected } from '@tabler/icons-react';
import { CopyLine } from '../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { KeyChooser } from '../../components/selects/KeyChooser.tsx';
import { ModelField } from '../../components/selects/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import type { ModelChoice } from '../../state/choices/use-model-choice.ts';
import classes from './Connect.module.css';
import { TestOutcomeNote, useTestCall } from './TestCall.tsx';

interface ChoiceBarProps {
  keyChoice: KeyChoice;
  models: ModelChoice;
  baseUrl: string;
}

/** The choice of key and model for the steps, with a test. */
export function ChoiceBar({ keyChoice, models, baseUrl }: ChoiceBarProps) {
  const { status } = useMessages();
  return (
    <div className={classes.bar}>
      <div className={classes.choices}>
        <div>
          <p className={classes.label}>{status.baseUrl}</p>
          <CopyLine value={baseUrl} label={status.baseUrl} oneLine />
        </div>
        <KeyChooser choice={keyChoice} />
        <ModelField choice={models} />
      </div>
      <div className={classes.acts}>
        {keyChoice.key?.canReveal && <SecretToggle choice={keyChoice} />}
        <TestFromHere key={`${keyChoice.key?.id} ${models.model}`} choice={keyChoice} model={models.model} />
      </div>
      {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
    </div>
  );
}

function SecretToggle({ choice }: { choice: KeyChoice }) {
  const { connect: messages } = useMessages();
  const isShown = choice.secret !== null;
  return (
    <Button
      size="xs"
      variant="default"
      aria-pressed={isShown}
      leftSection={isShown ? <IconEyeOff size={14} /> : <IconEye size={14} />}
      loading={choice.isRevealing}
      onClick={() => (isShown ? choice.forget() : void choice.reveal())}
    >
      {isShown ? messages.hideSecret : messages.showSecret}
    </Button>
  );
}

interface TestFromHereProps {
  choice: KeyChoice;
  model: string;
}

/** Calls the chosen model with the chosen key, as a client would. */
function TestFromHere({ choice, model }: TestFromHereProps) {
  const { connect: messages } = useMessages();
  const { isPossible, isRunning, outcome, run } = useTestCall(choice, model);
  return (
    <>
      <Button
        size="xs"
        leftSection={<IconPlugConnected size={14} />}
        loading={isRunning}
        disabled={!isPossible}
        onClick={() => void run()}
      >
        {messages.test}
      </Button>
      <TestOutcomeNote outcome={outcome} model={model} />
    </>
  );
}
