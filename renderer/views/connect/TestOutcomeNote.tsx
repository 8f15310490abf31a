import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import classes from './Connect.module.css';
import type { TestOutcome } from './test-connection.ts';

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
