import { ActionIcon, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';
import type { HotkeyView } from '../../../../server/contract/ipc.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import { isAppleKeyboard } from '../../../state/window/shortcuts.ts';
import { acceleratorOf, keysOf } from './accelerator.ts';

interface HotkeyFieldProps {
  hotkey: HotkeyView;
  onChange(keys: string | null): void;
}

/** The keys that show Sluice from anywhere: the field takes those that are pressed in it. */
export function HotkeyField({ hotkey, onChange }: HotkeyFieldProps) {
  const { hotkey: names } = useMessages().settings.desktop;
  const [isListening, setListening] = useState(false);
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    // Tab leaves the field, as it does everywhere.
    if (event.key === 'Tab' && !event.ctrlKey && !event.altKey && !event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') return event.currentTarget.blur();
    const keys = acceleratorOf(event, isAppleKeyboard);
    if (keys !== null && keys !== hotkey.keys) onChange(keys);
  };
  return (
    <TextInput
      label={names.label}
      description={isListening ? names.press : names.hint}
      placeholder={names.none}
      value={hotkey.keys === null ? '' : keysOf(hotkey.keys, isAppleKeyboard)}
      error={hotkey.isTaken && names.taken}
      onFocus={() => setListening(true)}
      onBlur={() => setListening(false)}
      onKeyDown={press}
      readOnly
      rightSection={
        hotkey.keys !== null && (
          <ActionIcon variant="subtle" color="gray" aria-label={names.clear} onClick={() => onChange(null)}>
            <IconX size={14} />
          </ActionIcon>
        )
      }
    />
  );
}
