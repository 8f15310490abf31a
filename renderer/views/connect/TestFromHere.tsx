import { Button } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import classes from './Connect.module.css';
import { type TestOutcome, testConnection } from './test-connection.ts';

interface TestFromHereProps {
  choice: KeyChoice;
  model: string;
}

/** Asks the chosen model with the chosen key, as a client would. The secret is used and not shown. */
export function TestFromHere({ choice, model }: TestFromHereProps) {
  const localization = useLocalization();
  const { connect: messages } = localization.messages;
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  const test = async () => {
    setRunning(true);
    setOutcome(null);
    const { secret } = await choice.peek();
    if (secret) setOutcome(await testConnection(secret, model));
    setRunning(false);
  };
  const isPossible = model !== '' && choice.key !== null && (choice.key.canReveal || choice.secret !== null);
  return (
    <>
      <Button
        size="xs"
        leftSection={<IconPlugConnected size={14} />}
        loading={isRunning}
        disabled={!isPossible}
        onClick={() => void test()}
      >
        {messages.test}
      </Button>
      <p role="status" className={outcome?.kind === 'passed' ? classes.good : classes.bad}>
        {outcome && describe(outcome, model, localization)}
      </p>
    </>
  );
}

function describe(outcome: TestOutcome, model: string, { messages, formats }: Localization): string {
  const { connect: texts } = messages;
  if (outcome.kind === 'unreachable') return texts.testUnreachable;
  if (outcome.kind === 'refused') return texts.testRefused(model, outcome.status, outcome.message);
  return texts.testPassed(model, formats.duration(outcome.durationMs));
}
