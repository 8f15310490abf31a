import { Button, Loader, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { purposeOf } from '../../../../server/contract/model-identity.ts';
import type { ProbeReport } from '../../../../server/contract/probe.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { RelativeTime } from '../../../components/text/RelativeTime.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import classes from '../Providers.module.css';
import { FixButton } from './FixButton.tsx';
import { Diagnosis, ProbeSteps } from './ProbeSteps.tsx';
import type { Probe } from './use-probe.ts';

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
  const isHealthy = call !== null && provider.health.state === 'ok';
  const outcome = () => {
    if (failedAt !== null) return names.failed(names.steps[failedAt], formats.duration(report.elapsedMs));
    if (call) return names.answered(formats.duration(call.elapsedMs), call.model);
    return modelCount === null ? names.reached : names.listed(modelCount, formats.number(modelCount));
  };
  const className = failedAt !== null ? classes.probeBad : isHealthy ? classes.probeGood : classes.probePlain;
  return (
    <p className={className}>
      {outcome()}
      <span className={classes.probeAge}>
        <RelativeTime moment={at} phrase={names.testedAgo} />
      </span>
      {failedAt === null && provider.health.state !== 'ok' && (
        <span className={classes.probeDoubt}>{names.stillFailing}</span>
      )}
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
