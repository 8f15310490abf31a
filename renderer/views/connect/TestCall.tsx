import { useState } from 'react';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import { callGateway, errorTextOf } from '../../state/calls/gateway-api.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import classes from './Connect.module.css';

/** The outcome of a test call. Always mounted, so that screen readers announce changes. */
export function TestOutcomeNote({ outcome, model }: { outcome: TestOutcome | null; model: string }) {
  const localization = useLocalization();
  return (
    <p role="status" className={outcome?.kind === 'passed' ? classes.good : classes.bad}>
      {outcome && describe(outcome, model, localization)}
    </p>
  );
}

function describe(outcome: TestOutcome, model: string, { messages, formats }: Localization): string {
  const { connect: texts } = messages;
  if (outcome.kind === 'unreachable') return texts.testUnreachable;
  if (outcome.kind === 'refused') return texts.testRefused(model, outcome.status, outcome.message);
  return texts.testPassed(model, formats.duration(outcome.durationMs));
}

type TestOutcome =
  | { kind: 'passed'; durationMs: number }
  | { kind: 'refused'; status: number; message: string }
  | { kind: 'unreachable' };

/** Makes a real, short call to the model, as a client would. */
async function testConnection(secret: string, model: string): Promise<TestOutcome> {
  const startedAt = performance.now();
  // Without a token limit, because providers use different names for it and refuse unknown ones.
  const body = { model, messages: [{ role: 'user', content: 'Reply with the word OK.' }] };
  try {
    const response = await callGateway({ path: '/chat/completions', secret, body });
    const text = await response.text();
    if (!response.ok) return { kind: 'refused', status: response.status, message: errorTextOf(text).message };
    return { kind: 'passed', durationMs: performance.now() - startedAt };
  } catch {
    return { kind: 'unreachable' };
  }
}

interface TestCall {
  /** There is a model, and the key's secret is known or can be revealed. */
  isPossible: boolean;
  isRunning: boolean;
  /** Null before the first call. */
  outcome: TestOutcome | null;
  run(): Promise<void>;
}

/** Makes a real call to the chosen model with the chosen key. The secret is used, but not shown. */
export function useTestCall(choice: KeyChoice, model: string): TestCall {
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  return {
    isPossible: model !== '' && choice.key !== null && (choice.key.canReveal || choice.secret !== null),
    isRunning,
    outcome,
    async run() {
      setRunning(true);
      setOutcome(null);
      const { secret } = await choice.peek();
      if (secret) setOutcome(await testConnection(secret, model));
      setRunning(false);
    },
  };
}
