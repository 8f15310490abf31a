import { Button } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { TestOutcomeNote } from './TestOutcomeNote.tsx';
import { useTestCall } from './use-test-call.ts';

interface TestFromHereProps {
  choice: KeyChoice;
  model: string;
}

/** Calls the chosen model with the chosen key, as a client would. */
export function TestFromHere({ choice, model }: TestFromHereProps) {
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
