import { IconCircleCheck, IconCircleX, IconMinus } from '@tabler/icons-react';
import { formatMessage } from '../../../../server/contract/coded.ts';
import type { ProbeReport, ProbeStep } from '../../../../server/contract/probe.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCredentialName } from '../../../state/providers/providers.ts';
import classes from '../Providers.module.css';

interface ProbeStepsProps {
  report: ProbeReport;
  /** Of a credential that is not stored; by default its label. */
  credentialName?: string;
}

/** The results of a test, hop by hop. */
export function ProbeSteps({ report, credentialName }: ProbeStepsProps) {
  return (
    <ol className={classes.steps}>
      {report.steps.map((step) => (
        <Step key={step.name} step={step} provider={report.provider} credentialName={credentialName} />
      ))}
    </ol>
  );
}

const marks = { ok: IconCircleCheck, failed: IconCircleX, skipped: IconMinus };
const meanings = { ok: classes.good, failed: classes.bad, skipped: undefined };

interface StepProps {
  step: ProbeStep;
  provider: string;
  credentialName: string | undefined;
}

function Step({ step, provider, credentialName }: StepProps) {
  const { providers, probe } = useMessages();
  const { test: names } = providers;
  const nameOf = useCredentialName();
  const { finding } = step;
  const namedFinding =
    'credential' in finding
      ? { ...finding, credential: credentialName ?? nameOf(provider, finding.credential) }
      : finding;
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

/** Its pairs of digits in groups of eight, between which lines may end. */
function Fingerprint({ text }: { text: string }) {
  return (
    <code className={classes.fingerprint}>
      {text.match(/.{1,24}/g)?.map((group) => (
        <span key={group}>{group}</span>
      ))}
    </code>
  );
}

/** What failed, what the provider said about it, and the advice. */
export function Diagnosis({ report }: { report: ProbeReport }) {
  const { providers, probe } = useMessages();
  const failed = report.steps.find(({ status }) => status === 'failed');
  if (!failed) return null;
  return (
    <>
      {report.said !== null && (
        <p className={classes.said}>
          {providers.test.said} <q>{report.said}</q>
        </p>
      )}
      {report.certificate && (
        <div className={classes.soft}>
          <p className={classes.soft}>{providers.test.shownCertificate(report.certificate.issuer)}</p>
          <Fingerprint text={report.certificate.fingerprint} />
        </div>
      )}
      {failed.remedy && <p className={classes.soft}>{formatMessage(probe.remedies, failed.remedy)}</p>}
    </>
  );
}
