import { IconCircleCheck, IconCircleX, IconMinus } from '@tabler/icons-react';
import { formatMessage } from '../../../../server/contract/coded.ts';
import type { ProbeReport, ProbeStep } from '../../../../server/contract/probe.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCredentialName } from '../../../state/providers/use-credential-name.ts';
import classes from '../Providers.module.css';

/** The results of a test, hop by hop. */
export function ProbeSteps({ report }: { report: ProbeReport }) {
  return (
    <ol className={classes.steps}>
      {report.steps.map((step) => (
        <Step key={step.name} step={step} provider={report.provider} />
      ))}
    </ol>
  );
}

const marks = { ok: IconCircleCheck, failed: IconCircleX, skipped: IconMinus };
const meanings = { ok: classes.good, failed: classes.bad, skipped: undefined };

function Step({ step, provider }: { step: ProbeStep; provider: string }) {
  const { providers, probe } = useMessages();
  const { test: names } = providers;
  const credentialName = useCredentialName();
  const { finding } = step;
  const namedFinding =
    'credential' in finding ? { ...finding, credential: credentialName(provider, finding.credential) } : finding;
  const Mark = marks[step.status];
  return (
    <li className={classes.step}>
      <Mark size={16} className={meanings[step.status]} role="img" aria-label={names.statuses[step.status]} />
      <span className={classes.stepName}>{names.steps[step.name]}</span>
      <span className={step.status === 'skipped' ? classes.soft : undefined}>
        {formatMessage(probe.findings, namedFinding)}
      </span>
    </li>
  );
}
