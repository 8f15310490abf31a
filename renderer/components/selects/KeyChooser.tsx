import { NativeSelect, PasswordInput } from '@mantine/core';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/choices/use-key-choice.ts';
import { FindSelect } from './FindSelect.tsx';

/** Chooses a key, with a field for its secret if that was not kept. */
export function KeyChooser({ choice }: { choice: KeyChoice }) {
  const { keyChooser: names } = useMessages();
  const { key, secret, isNone } = choice;
  return (
    <>
      {isNone ? (
        <NativeSelect label={names.key} disabled data={[names.none]} />
      ) : (
        <FindSelect
          kinds={['key']}
          label={names.key}
          chosen={key && { kind: 'key', id: key.id }}
          onChange={(chosen) => chosen && choice.choose(chosen.id)}
          wanted={{ enabled: true }}
        />
      )}
      {key && !key.canReveal && (
        <PasswordInput
          label={names.secret}
          description={names.notKept}
          value={secret ?? ''}
          onChange={(event) => choice.enter(event.currentTarget.value.trim())}
          autoComplete="off"
          wrapperProps={{ 'data-key-secret': true }}
          visibilityToggleButtonProps={{ 'aria-label': names.showEntered, tabIndex: 0 }}
        />
      )}
    </>
  );
}
