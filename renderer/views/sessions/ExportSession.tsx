import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { SessionInFull } from '../../../server/contract/session-views.ts';
import { downloadLines } from '../../components/buttons/download.ts';
import { useMessages } from '../../messages/use-messages.ts';

/** Downloads the session's requests as JSON Lines, as `sluice session export` prints them. */
export function ExportSession({ full: { session, requests } }: { full: SessionInFull }) {
  const { requests: names } = useMessages();
  const download = () =>
    downloadLines(
      `sluice-session-${session.id}.jsonl`,
      requests.map((request) => ({ session: session.id, ...request })),
    );
  return (
    <Button size="xs" variant="default" leftSection={<IconDownload size={14} aria-hidden />} onClick={download}>
      {names.export}
    </Button>
  );
}
