import { Button, Loader } from '@mantine/core';
import { IconCircleCheck, IconCircleX, IconMinus } from '@tabler/icons-react';
import { say } from '../../../server/contract/coded.ts';
import type { ProbeReport, ProbeStep } from '../../../server/contract/probe.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';
import type { Answered } from '../../state/use-query.ts';
import classes from './Providers.module.css';
import { useCredentialName } from './use-credential-name.ts';

interface ProbeResultProps {
  probe: Answered<'provider-test'>;
  /** Waits no longer. */
  onStop(): void;
}

/** What asking the provider has shown, hop by hop. */
export function ProbeResult({ probe, onStop }: ProbeResultProps) {
  const {
    providers: { test: names },
    cancel,
  } = useMessages();
  if (probe.isRunning) {
    return (
      <div className={classes.probeWait} role="status">
        <Loader size="xs" />
        <span>{names.running}</span>
        <Button size="compact-xs" variant="default" onClick={onStop}>
          {cancel}
        </Button>
      </div>
    );
  }
  if (probe.problem) return <CommandProblem problem={probe.problem} />;
  return probe.answer && <Report report={probe.answer} />;
}

function Report({ report }: { report: ProbeReport }) {
  const { messages, formats } = useLocalization();
  const names = messages.providers.test;
  const elapsed = formats.duration(report.elapsedMs);
  return (
    <div role="status">
      <p className={report.ok ? classes.probeGood : classes.probeBad}>
        {report.failedAt === null ? names.passed(elapsed) : names.failed(names.steps[report.failedAt], elapsed)}
      </p>
      <ol className={classes.steps}>
        {report.steps.map((step) => (
          <Step key={step.name} step={step} provider={report.provider} />
        ))}
      </ol>
      {report.lacksResponses && <ChatOnly provider={report.provider} />}
    </div>
  );
}

/** So that clients of Responses, such as Codex, can use it all the same. */
function ChatOnly({ provider: id }: { provider: string }) {
  const { test: names } = useMessages().providers;
  const command = useCommand();
  const isSet = useControlState((state) => state.views?.providers.find((each) => each.id === id)?.serves != null);
  if (isSet) return <p>{names.willTranslate}</p>;
  const translate = () => void command.run({ type: 'provider.update', id, changes: { serves: ['chat'] } });
  return (
    <div>
      <p>{names.lacksResponses}</p>
      <Button size="compact-xs" variant="default" loading={command.isRunning} onClick={translate}>
        {names.translate}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </div>
  );
}

const marks = { ok: IconCircleCheck, failed: IconCircleX, skipped: IconMinus };
const meanings = { ok: classes.good, failed: classes.bad, skipped: undefined };

function Step({ step, provider }: { step: ProbeStep; provider: string }) {
  const { providers, probe } = useMessages();
  const { test: names } = providers;
  const credentialName = useCredentialName();
  const { finding, remedy } = step;
  const named =
    'credential' in finding ? { ...finding, credential: credentialName(provider, finding.credential) } : finding;
  const Mark = marks[step.status];
  return (
    <li className={classes.step}>
      <Mark size={16} className={meanings[step.status]} role="img" aria-label={names.statuses[step.status]} />
      <span className={classes.stepName}>{names.steps[step.name]}</span>
      <span className={step.status === 'skipped' ? classes.soft : undefined}>
        {say(probe.findings, named)}
        {remedy && <span className={classes.advice}>{say(probe.remedies, remedy)}</span>}
      </span>
    </li>
  );
}
