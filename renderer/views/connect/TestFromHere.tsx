import { Button } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import classes from './Connect.module.css';
import { type TestOutcome, testConnection } from './test-connection.ts';

/** Asks the gateway with the chosen key, as a client would. The secret is used and not shown. */
export function TestFromHere({ choice }: { choice: KeyChoice }) {
  const localization = useLocalization();
  const { connect: messages } = localization.messages;
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  const test = async () => {
    setRunning(true);
    setOutcome(null);
    const { secret } = await choice.peek();
    if (secret) setOutcome(await testConnection(secret));
    setRunning(false);
  };
  const isPossible = choice.key !== null && (choice.key.canReveal || choice.secret !== null);
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
        {outcome && describe(outcome, localization)}
      </p>
    </>
  );
}

function describe(outcome: TestOutcome, { messages: { connect: messages }, formats }: Localization): string {
  if (outcome.kind === 'unreachable') return messages.testUnreachable;
  if (outcome.kind === 'refused') return messages.testRefused(outcome.status, outcome.message);
  return messages.testPassed(outcome.models, formats.number(outcome.models), formats.duration(outcome.durationMs));
}
