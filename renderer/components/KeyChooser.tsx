import { NativeSelect, PasswordInput } from '@mantine/core';
import { useMessages } from '../messages/use-messages.ts';
import type { KeyChoice } from '../state/use-key-choice.ts';

/** Chooses a key, with a field for its secret if that was not kept. */
export function KeyChooser({ choice }: { choice: KeyChoice }) {
  const { keyChooser: names } = useMessages();
  const { keys, key, secret } = choice;
  return (
    <>
      <NativeSelect
        label={names.key}
        value={key?.id ?? ''}
        disabled={!key}
        onChange={(event) => choice.choose(event.currentTarget.value)}
        data={
          key && keys
            ? keys.map(({ id, name }) => ({ value: id, label: name ?? id }))
            : [{ value: '', label: keys ? names.none : '…' }]
        }
      />
      {key && !key.canReveal && (
        <PasswordInput
          label={names.secret}
          description={names.notKept}
          value={secret ?? ''}
          onChange={(event) => choice.enter(event.currentTarget.value.trim())}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': names.showEntered, tabIndex: 0 }}
        />
      )}
    </>
  );
}
