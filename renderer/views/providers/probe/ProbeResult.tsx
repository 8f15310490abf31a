import { Button, Loader, NativeSelect } from '@mantine/core';
import { IconCircleCheck, IconCircleX, IconMinus } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { formatMessage } from '../../../../server/contract/coded.ts';
import { purposeOf } from '../../../../server/contract/model-identity.ts';
import type { ProbeReport, ProbeStep } from '../../../../server/contract/probe.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { CredentialForm } from '../../../components/credentials/CredentialForm.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { RelativeTime } from '../../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { type QueryState, useQuery } from '../../../state/control/use-query.ts';
import { credentialNameOf, useCredentialName } from '../../../state/providers/providers.ts';
import { createSessionValue, useSessionValue } from '../../../state/window/session-value.ts';
import classes from '../Providers.module.css';
import { fixOf } from './probe-fix.ts';

interface ProbeResultProps {
  provider: ProviderView;
  probe: Probe;
  /** Shows all steps at once. */
  isDetailed?: boolean;
}

/** The result of the last test: the outcome, the failure in the provider's own words, and advice. */
export function ProbeResult({ provider, probe, isDetailed = false }: ProbeResultProps) {
  const {
    providers: { test: names },
    cancel,
  } = useMessages();
  if (probe.isRunning) {
    return (
      <div className={classes.probeWait} role="status">
        <Loader size="xs" />
        <span>{names.running}</span>
        <Button size="compact-xs" variant="default" onClick={probe.dismiss}>
          {cancel}
        </Button>
      </div>
    );
  }
  if (probe.problem) return <CommandProblem problem={probe.problem} />;
  if (!probe.lastReport) return null;
  const { report, at } = probe.lastReport;
  return (
    <div role="status" className={classes.probe}>
      <Headline report={report} provider={provider} at={at} />
      <Diagnosis report={report} />
      <div className={classes.cardActs}>
        <FixButton provider={provider} report={report} onFixed={() => probe.run()} />
      </div>
      {report.ok && <TrialCall provider={provider} onCall={probe.run} />}
      {report.lacksResponses && <ChatOnly provider={report.provider} />}
      <details className={classes.probeDetails} open={isDetailed}>
        <summary>{names.allSteps}</summary>
        <ProbeSteps report={report} />
      </details>
    </div>
  );
}

/** Shown as a success only if the provider answered a call and its requests are not failing. */
function Headline({ report, provider, at }: { report: ProbeReport; provider: ProviderView; at: number }) {
  const { messages, formats } = useLocalization();
  const names = messages.providers.test;
  const { call, failedAt, modelCount } = report;
  const { state, failure } = provider.health;
  const isFailing = state !== 'ok' || failure !== null;
  const outcome = () => {
    if (failedAt !== null) return names.failed(names.steps[failedAt], formats.duration(report.elapsedMs));
    if (call) return names.answered(formats.duration(call.elapsedMs), call.model);
    return modelCount === null ? names.reached : names.listed(modelCount, formats.number(modelCount));
  };
  const className =
    failedAt !== null ? classes.probeBad : call !== null && !isFailing ? classes.probeGood : classes.probePlain;
  return (
    <p className={className}>
      {outcome()}
      <span className={classes.probeAge}>
        <RelativeTime moment={at} phrase={names.testedAgo} />
      </span>
      {failedAt === null && isFailing && <span className={classes.probeDoubt}>{names.stillFailing}</span>}
    </p>
  );
}

/** Offers translation, so that Responses clients such as Codex can use the provider. */
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

/** Calls a chosen model, usually the one that the person is going to use. Renders nothing if no model is known. */
function TrialCall({ provider, onCall }: { provider: ProviderView; onCall(model: string): void }) {
  const { test: names } = useMessages().providers;
  const models = provider.modelNames.filter((name) => purposeOf(name) === 'chat');
  const [chosen, setChosen] = useState<string | null>(null);
  const model = chosen ?? models[0];
  if (model === undefined) return null;
  return (
    <div className={classes.trial}>
      <NativeSelect
        size="xs"
        aria-label={names.callModel}
        value={model}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={models}
      />
      <Button size="xs" variant="default" onClick={() => onCall(model)}>
        {names.call}
      </Button>
    </div>
  );
}

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

interface FixButtonProps {
  provider: ProviderView;
  report: ProbeReport;
  /** The cause may be fixed, so it is time to test again. */
  onFixed(): void;
}

/** Applies the test's advice, if one click can do that. */
function FixButton({ provider, report, onFixed }: FixButtonProps) {
  const { test: names, add, credential: credentialNames } = useMessages().providers;
  const command = useCommand();
  const [isReplacing, setReplacing] = useState(false);
  const fix = fixOf(report);
  if (!fix) return null;
  if (fix.kind !== 'credential') {
    const isAddress = fix.kind === 'base-url';
    const changes = isAddress ? { baseUrl: fix.baseUrl } : { certificate: fix.fingerprint };
    const apply = async () => {
      if (await command.run({ type: 'provider.update', id: provider.id, changes })) onFixed();
    };
    return (
      <>
        <Button
          size="xs"
          variant={isAddress ? 'filled' : 'default'}
          loading={command.isRunning}
          onClick={() => void apply()}
        >
          {isAddress ? names.takeBaseUrl(fix.baseUrl) : add.trustCertificate}
        </Button>
        {command.problem && <CommandProblem problem={command.problem} />}
      </>
    );
  }
  const replaced = provider.credentials.find(({ id }) => id === fix.credential) ?? null;
  const saved = () => {
    setReplacing(false);
    onFixed();
  };
  return (
    <>
      <Button size="xs" onClick={() => setReplacing(true)}>
        {replaced ? names.replaceCredential : names.addCredential}
      </Button>
      <ModalFrame
        opened={isReplacing}
        onClose={() => setReplacing(false)}
        title={
          replaced
            ? credentialNames.replaceTitle(credentialNameOf(provider.credentials, replaced.id, credentialNames))
            : credentialNames.add
        }
      >
        <CredentialForm
          provider={provider.id}
          credential={replaced}
          onCancel={() => setReplacing(false)}
          onSaved={saved}
        />
      </ModalFrame>
    </>
  );
}

interface TimedReport {
  report: ProbeReport;
  /** Unix milliseconds. */
  at: number;
}

interface Probe {
  /** The last report, until a newer one or until it is dismissed. Outlives its screen. */
  lastReport: TimedReport | null;
  isRunning: boolean;
  problem: QueryState<'provider-test'>['problem'];
  /** `model`: the model to call; by default a cheap one. */
  run(model?: string): void;
  /** Stops waiting and discards the last report. */
  dismiss(): void;
}

const lastReports = createSessionValue<Readonly<Record<string, TimedReport>>>({});

/** Tests a provider on request, or at once if `startsAtOnce`. */
export function useProbe(id: string, startsAtOnce = false): Probe {
  const [requested, setRequested] = useState<{ model: string | null } | null>(startsAtOnce ? { model: null } : null);
  const { answer, isRunning, problem, refetch } = useQuery<'provider-test'>(
    requested && { type: 'provider-test', id, ...(requested.model !== null && { model: requested.model }) },
  );
  const [reports, setReports] = useSessionValue(lastReports);
  useEffect(() => {
    if (answer) setReports((old) => ({ ...old, [id]: { report: answer, at: Date.now() } }));
  }, [answer, id, setReports]);
  return {
    lastReport: reports[id] ?? null,
    isRunning: requested !== null && isRunning,
    problem: requested === null ? null : problem,
    run(model) {
      if (requested?.model === (model ?? null)) refetch();
      else setRequested({ model: model ?? null });
    },
    dismiss() {
      setRequested(null);
      setReports(({ [id]: _, ...others }) => others);
    },
  };
}
