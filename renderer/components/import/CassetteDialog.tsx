import { Button, Group, Stack, Text } from '@mantine/core';
import type { CassetteContents } from '../../../server/contract/cassette.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { ModalFrame } from '../dialogs/ModalFrame.tsx';
import classes from './CassetteDialog.module.css';

interface CassetteDialogProps {
  cassette: CassetteContents;
  onClose(): void;
}

/** The recordings of a cassette that the system opened with Sluice. It only shows them: replay is switched on elsewhere. */
export function CassetteDialog({ cassette, onClose }: CassetteDialogProps) {
  const { messages, formats } = useLocalization();
  const { opened: names, holds } = messages.cassettes;
  const { folder, recordings, total } = cassette;
  const left = total - recordings.length;
  return (
    <ModalFrame opened onClose={onClose} title={names.title} width="wide">
      <Stack gap="sm">
        <div>
          <span className={classes.folder}>{folder}</span>
          <Text c="dimmed">{total === 0 ? names.empty : holds(total, formats.number(total))}</Text>
        </div>
        <Text>{names.onlyShown}</Text>
        {recordings.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by the keyboard, too
          <ul className={classes.recordings} aria-label={names.recordings} tabIndex={0}>
            {recordings.map(({ name, call, model, status }) => (
              <li key={name} className={classes.recording} title={name}>
                <span className={classes.call}>{call ?? names.unread(name)}</span>
                <span>{model}</span>
                <span>{status}</span>
              </li>
            ))}
          </ul>
        )}
        {left > 0 && <Text c="dimmed">{names.more(formats.number(left))}</Text>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {messages.close}
          </Button>
        </Group>
      </Stack>
    </ModalFrame>
  );
}
