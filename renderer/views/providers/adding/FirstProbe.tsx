import { Button, Group, Stack } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { useState } from 'react';
import { CredentialForm } from '../../../components/credentials/CredentialForm.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { ProbeResult } from '../probe/ProbeResult.tsx';
import { fixOf } from '../probe/probe-fix.ts';
import { useProbe } from '../probe/use-probe.ts';

/** The last step: whether the new provider can be used, and what to do if not. */
export function FirstProbe({ id, onDone }: { id: string; onDone(): void }) {
  const { add: names, test, credential: credentialNames } = useMessages().providers;
  const provider = useControlState((state) => state.views?.providers.find((each) => each.id === id));
  const probe = useProbe(id, true);
  const takeFocus = useFocusTrap();
  const command = useCommand();
  const [isEditingCredential, setEditingCredential] = useState(false);
  const credential = provider?.credentials[0];
  const undoAdd = async () => {
    if (await command.run({ type: 'provider.remove', id })) onDone();
  };
  if (isEditingCredential) {
    const probeAgain = () => {
      setEditingCredential(false);
      probe.run();
    };
    return (
      <CredentialForm
        provider={id}
        credential={credential ?? null}
        onCancel={() => setEditingCredential(false)}
        onSaved={probeAgain}
      />
    );
  }
  // True also if the person did not wait for the outcome.
  const hasFailed = !probe.isRunning && !probe.lastReport?.report.ok;
  const fix = hasFailed && probe.lastReport ? fixOf(probe.lastReport.report) : null;
  return (
    <Stack ref={takeFocus}>
      <span>{names.added(provider?.name ?? id)}</span>
      {provider && (
        <ProbeResult provider={provider} probe={probe} isDetailed onReplace={() => setEditingCredential(true)} />
      )}
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        {hasFailed && (
          <>
            <Button variant="default" loading={command.isRunning} onClick={() => void undoAdd()}>
              {names.takeBack}
            </Button>
            {fix?.kind !== 'credential' && (
              <Button variant="default" onClick={() => setEditingCredential(true)}>
                {credential ? credentialNames.replace : credentialNames.add}
              </Button>
            )}
            <Button variant="default" onClick={() => probe.run()}>
              {test.again}
            </Button>
          </>
        )}
        <Button variant={hasFailed ? 'default' : 'filled'} onClick={onDone} data-autofocus={!fix || undefined}>
          {hasFailed ? names.keepAnyway : names.done}
        </Button>
      </Group>
    </Stack>
  );
}
