import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ProbeReport } from '../../../../server/contract/probe.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { CredentialForm } from '../../../components/credentials/CredentialForm.tsx';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { fixOf } from './probe-fix.ts';

interface FixButtonProps {
  provider: ProviderView;
  report: ProbeReport;
  /** The cause may be fixed, so it is time to test again. */
  onFixed(): void;
}

/** Applies the test's advice, if one click can do that. */
export function FixButton({ provider, report, onFixed }: FixButtonProps) {
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
        title={replaced ? credentialNames.replaceTitle(replaced.label ?? replaced.id) : credentialNames.add}
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
