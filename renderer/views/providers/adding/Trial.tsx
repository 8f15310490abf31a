import { Button, Group, Loader, Stack } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { useEffect, useEffectEvent, useState } from 'react';
import type { ProviderTrial } from '../../../../server/contract/provider-commands.ts';
import { apiNames } from '../../../../server/contract/provider-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../../state/api/api.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlStore } from '../../../state/control/use-control.ts';
import { useUnsaved } from '../../../state/edits/unsaved-edits.ts';
import classes from '../Providers.module.css';
import { Diagnosis, ProbeSteps } from '../probe/ProbeResult.tsx';
import { additionOf, type Field, isTyped, type ProviderDraft, remediesFor, trialOf } from './provider-draft.ts';

interface TrialProps {
  draft: ProviderDraft;
  /** `field`: the one to correct; null for the whole form. */
  onEdit(field: Field | null): void;
  /** Tests it again with this certificate. */
  onTrust(fingerprint: string): void;
  onKept(): void;
}

/** The last step: what is at the address, and whether it answers. It is added when the person keeps it. */
export function Trial({ draft, onEdit, onTrust, onKept }: TrialProps) {
  const { providers } = useMessages();
  const { outcome, again } = useTrial(draft);
  const [isKept, setKept] = useState(false);
  useUnsaved(isTyped(draft) && !isKept);
  const tellKept = useEffectEvent(onKept);
  // After the draft has ceased to be unsaved, because this may lead to another screen.
  useEffect(() => {
    if (isKept) tellKept();
  }, [isKept]);
  if (outcome?.trial)
    return (
      <Outcome {...{ draft, onEdit, onTrust }} onKept={() => setKept(true)} trial={outcome.trial} onAgain={again} />
    );
  if (outcome?.problem) {
    return (
      <Stack>
        <CommandProblem problem={outcome.problem} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onEdit(null)}>
            {providers.add.back}
          </Button>
        </Group>
      </Stack>
    );
  }
  return (
    <div className={classes.probeWait} role="status">
      <Loader size="xs" />
      <span>{providers.test.running}</span>
      <Button size="compact-xs" variant="default" onClick={() => onEdit(null)}>
        {providers.add.stop}
      </Button>
    </div>
  );
}

interface Tested {
  trial: ProviderTrial | null;
  /** Why nothing was tested. */
  problem: ControlError | null;
}

/** Tests the draft at once, and again on demand. Null while it runs. */
function useTrial(draft: ProviderDraft): { outcome: Tested | null; again(): void } {
  const store = useControlStore();
  const [round, setRound] = useState(0);
  const [done, setDone] = useState<(Tested & { round: number }) | null>(null);
  useEffect(() => {
    let isAwaited = true;
    const end = (outcome: Tested) => {
      if (isAwaited) setDone({ ...outcome, round });
    };
    store.execute<'provider.try'>(trialOf(draft)).then(
      (trial) => end({ trial, problem: null }),
      (error: unknown) => end({ trial: null, problem: asControlError(error) }),
    );
    return () => {
      isAwaited = false;
    };
  }, [store, draft, round]);
  return { outcome: done?.round === round ? done : null, again: () => setRound((before) => before + 1) };
}

interface OutcomeProps extends TrialProps {
  trial: ProviderTrial;
  onAgain(): void;
}

function Outcome({ draft, trial, onEdit, onTrust, onKept, onAgain }: OutcomeProps) {
  const { providers } = useMessages();
  const { add: names, test } = providers;
  const { report } = trial;
  const command = useCommand();
  const takeFocus = useFocusTrap();
  const keep = async () => {
    if (await command.run(additionOf(draft, trial))) onKept();
  };
  return (
    <Stack ref={takeFocus}>
      <div role="status" className={classes.probe}>
        <Headline draft={draft} trial={trial} />
        <Diagnosis report={report} />
        {report.lacksResponses && <p className={classes.soft}>{names.translates}</p>}
        <details className={classes.probeDetails} open={!report.ok}>
          <summary>{test.allSteps}</summary>
          <ProbeSteps report={report} credentialName={names.enteredCredential} />
        </details>
      </div>
      {command.problem && <CommandProblem problem={command.problem} />}
      <div className={classes.trialActs}>
        {report.ok ? (
          <Button variant="default" onClick={() => onEdit(null)}>
            {names.back}
          </Button>
        ) : (
          <Remedies {...{ draft, trial, onEdit, onTrust, onAgain }} />
        )}
        <Button variant={report.ok ? 'filled' : 'default'} loading={command.isRunning} onClick={() => void keep()}>
          {report.ok ? names.keep : names.keepAnyway}
        </Button>
      </div>
    </Stack>
  );
}

/** What was found, and what came of calling it. Has the focus after a test that passed, so that a second Enter keeps nothing. */
function Headline({ draft, trial }: Pick<OutcomeProps, 'draft' | 'trial'>) {
  const { messages, formats } = useLocalization();
  const { add: names, test, modelCount } = messages.providers;
  const { report, provider, isFound } = trial;
  const { call, failedAt, elapsedMs } = report;
  const models = report.modelCount === null ? null : modelCount(report.modelCount, formats.number(report.modelCount));
  const service = draft.preset
    ? (names.presetNames[draft.preset.id] ?? draft.preset.name)
    : isFound && provider.preset === 'ollama'
      ? 'Ollama'
      : (names.apiNames[provider.dialect] ?? apiNames[provider.dialect]);
  const isNamed = draft.preset !== null || isFound;
  return (
    <div tabIndex={-1} data-autofocus={report.ok || undefined} className={classes.trialHead}>
      {isNamed && <p className={classes.trialName}>{names.foundApi(service, models)}</p>}
      {isFound && <span className={classes.mono}>{provider.baseUrl}</span>}
      {failedAt !== null && (
        <p className={classes.probeBad}>{test.failed(test.steps[failedAt], formats.duration(elapsedMs))}</p>
      )}
      {failedAt === null && call && (
        <p className={classes.probeGood}>{test.answered(formats.duration(call.elapsedMs), call.model)}</p>
      )}
      {failedAt === null && !call && <p className={classes.soft}>{models === null ? test.reached : names.notCalled}</p>}
    </div>
  );
}

/** What helps at the hop that failed. The focus is on what changes nothing by itself. */
function Remedies({ draft, trial, onEdit, onTrust, onAgain }: Omit<OutcomeProps, 'onKept'>) {
  const { add: names, test } = useMessages().providers;
  const { report } = trial;
  const { certificate } = report;
  const fields = remediesFor(report, draft);
  const isWanted = report.steps.some(({ finding }) => finding.code === 'credential-wanted');
  const labels: Record<Field, string> = {
    address: names.editAddress,
    credential: isWanted ? names.addKey : names.replaceKey,
    proxy: names.setProxy,
  };
  const focused = fields[0] === 'credential' ? undefined : fields[0];
  return (
    <>
      {fields.map((field, index) => (
        <Button
          key={field}
          variant={index === 0 ? 'filled' : 'default'}
          onClick={() => onEdit(field)}
          data-autofocus={field === focused || undefined}
        >
          {labels[field]}
        </Button>
      ))}
      {certificate && (
        <Button variant="default" onClick={() => onTrust(certificate.fingerprint)}>
          {names.trustCertificate}
        </Button>
      )}
      <Button variant="default" onClick={onAgain} data-autofocus={focused === undefined || undefined}>
        {test.again}
      </Button>
    </>
  );
}
