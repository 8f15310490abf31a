import { Button, Group, Stack } from '@mantine/core';
import { useFocusTrap } from '@mantine/hooks';
import { useState } from 'react';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/use-command.ts';
import { useControlState } from '../../state/use-control.ts';
import { CredentialForm } from './CredentialForm.tsx';
import { ProbeResult } from './ProbeResult.tsx';
import { fixOf } from './probe-fix.ts';
import { useProbe } from './use-probe.ts';

/** The last step: whether the new provider can be used, and what to do if not. */
export function FirstProbe({ id, onDone }: { id: string; onDone(): void }) {
  const { add: names, test, credential: credentialNames } = useMessages().providers;
  const provider = useControlState((state) => state.views?.providers.find((each) => each.id === id));
  const probe = useProbe(id, true);
  const takeFocus = useFocusTrap();
  const command = useCommand();
  const [isMending, setMending] = useState(false);
  const credential = provider?.credentials[0];
  const takeBack = async () => {
    if (await command.run({ type: 'provider.remove', id })) onDone();
  };
  if (isMending) {
    const goOn = () => {
      setMending(false);
      probe.run();
    };
    return (
      <CredentialForm provider={id} credential={credential ?? null} onCancel={() => setMending(false)} onSaved={goOn} />
    );
  }
  // True also if the person did not wait for the outcome.
  const hasFailed = !probe.isRunning && !probe.kept?.report.ok;
  const fix = hasFailed && probe.kept ? fixOf(probe.kept.report) : null;
  return (
    <Stack ref={takeFocus}>
      <span>{names.added(provider?.name ?? id)}</span>
      {provider && <ProbeResult provider={provider} probe={probe} isDetailed onReplace={() => setMending(true)} />}
      {command.problem && <CommandProblem problem={command.problem} />}
      <Group justify="flex-end" gap="xs">
        {hasFailed && (
          <>
            <Button variant="default" loading={command.isRunning} onClick={() => void takeBack()}>
              {names.takeBack}
            </Button>
            {fix?.kind !== 'credential' && (
              <Button variant="default" onClick={() => setMending(true)}>
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
