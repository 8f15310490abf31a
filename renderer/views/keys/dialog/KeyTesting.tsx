import { Switch } from '@mantine/core';
import { IconTestPipe } from '@tabler/icons-react';
import { useState } from 'react';
import type { KeyView } from '../../../../server/contract/access-views.ts';
import { CaptureSwitch } from '../../../components/access/CaptureSwitch.tsx';
import { CassetteFields } from '../../../components/access/CassetteFields.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import type { KeyDraft } from './key-draft.ts';
import { RevealButton } from './RevealButton.tsx';

interface KeyTestingProps {
  draft: KeyDraft;
  onChange(draft: KeyDraft): void;
  /** The cassette in force, for a key that has one. */
  cassette: KeyView['cassette'];
}

/** Settings for testing and debugging the program that uses the key. Few keys need them. */
export function KeyTesting({ draft, onChange, cassette }: KeyTestingProps) {
  const messages = useMessages();
  const { isAdmin } = useRights();
  const [isOpen, setOpen] = useState(draft.capture || draft.faults || cassette !== null);
  if (!isOpen) {
    return (
      <RevealButton icon={<IconTestPipe size={14} />} label={messages.keys.testing} onClick={() => setOpen(true)} />
    );
  }
  return (
    <>
      <CaptureSwitch
        label={messages.keys.capture}
        isOn={draft.capture}
        onChange={(capture) => onChange({ ...draft, capture })}
      />
      <Switch
        label={messages.faults.ask}
        description={messages.faults.askHint}
        checked={draft.faults}
        onChange={(event) => onChange({ ...draft, faults: event.currentTarget.checked })}
      />
      {/* A folder on the machine that Sluice runs on. */}
      {isAdmin && (
        <CassetteFields
          draft={draft.cassette}
          saved={cassette === 'off' ? null : cassette}
          hasGroup
          onChange={(changed) => onChange({ ...draft, cassette: changed })}
        />
      )}
    </>
  );
}
