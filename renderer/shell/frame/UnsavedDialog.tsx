import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useSyncExternalStore } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { unsavedEdits } from '../../state/edits/unsaved-edits.ts';

/** Mantine's dialogs have 200, and drop-downs of fields 300. */
const aboveOtherDialogs = 400;

/** Asks for confirmation before unsaved edits are discarded. */
export function UnsavedDialog() {
  const { unsaved: names, discard } = useMessages();
  const isAsking = useSyncExternalStore(unsavedEdits.subscribe, unsavedEdits.isAsking);
  useEffect(() => {
    // The browser asks in its own words.
    const guard = (event: BeforeUnloadEvent) => {
      if (unsavedEdits.has()) event.preventDefault();
    };
    addEventListener('beforeunload', guard);
    return () => removeEventListener('beforeunload', guard);
  }, []);
  return (
    <Modal
      opened={isAsking}
      onClose={unsavedEdits.keep}
      title={names.title}
      centered
      zIndex={aboveOtherDialogs}
      withCloseButton={false}
      transitionProps={{ duration: 0 }}
      attributes={{ header: { role: 'presentation' } }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
    >
      <Stack>
        <Text>{names.text}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={unsavedEdits.keep} data-autofocus>
            {names.keep}
          </Button>
          <Button color="red.8" onClick={unsavedEdits.discard}>
            {discard}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
