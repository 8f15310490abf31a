import { Button, Switch } from '@mantine/core';
import { IconTestPipe } from '@tabler/icons-react';
import { useState } from 'react';
import type { KeyView } from '../../../server/contract/access-views.ts';
import { CaptureSwitch } from '../../components/CaptureSwitch.tsx';
import { CassetteFields } from '../../components/CassetteFields.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Keys.module.css';
import type { KeyDraft } from './key-draft.ts';

interface KeyTestingProps {
  draft: KeyDraft;
  onChange(draft: KeyDraft): void;
  /** The cassette in force, of a key that has one. */
  cassette: KeyView['cassette'];
}

/** What helps to test and debug the program that has the key; few keys need it. */
export function KeyTesting({ draft, onChange, cassette }: KeyTestingProps) {
  const messages = useMessages();
  const [isOpen, setOpen] = useState(draft.capture || draft.faults || cassette !== null);
  if (!isOpen) {
    return (
      <Button
        variant="subtle"
        size="xs"
        className={classes.start}
        leftSection={<IconTestPipe size={14} />}
        onClick={() => setOpen(true)}
      >
        {messages.keys.testing}
      </Button>
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
      <CassetteFields
        draft={draft.cassette}
        saved={cassette === 'off' ? null : cassette}
        hasGroup
        onChange={(changed) => onChange({ ...draft, cassette: changed })}
      />
    </>
  );
}
