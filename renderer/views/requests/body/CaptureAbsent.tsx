import { Button } from '@mantine/core';
import { IconPlayerRecord } from '@tabler/icons-react';
import type { CaptureAbsence } from '../../../../server/contract/capture.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useKey } from '../../../state/control/use-found.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import classes from '../detail/RequestPanel.module.css';

interface CaptureAbsentProps {
  request: Pick<RequestView, 'keyId'>;
  absence: CaptureAbsence | null;
}

/** Why headers and bodies were not captured, and a button that captures the next ten minutes. */
export function CaptureAbsent({ request: { keyId }, absence }: CaptureAbsentProps) {
  const { messages } = useLocalization();
  return (
    <div className={classes.absent}>
      <p>{messages.requests.captureAbsences[absence ?? 'unknown']}</p>
      {absence !== 'running' && absence !== 'session' && <CaptureButton keyId={keyId} />}
    </div>
  );
}

const minutes = 10;

/**
 * Starts capturing the requests of a key, or all requests if there was no key. Renders nothing if the person may not do
 * that.
 */
export function CaptureButton({ keyId }: { keyId: string | null }) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const command = useCommand();
  const { isAdmin, manages } = useRights();
  const key = useKey(keyId);
  const running = useControlState((state) =>
    state.views?.status.capture.find(({ kind, id }) => kind === 'all' || (kind === 'key' && id === keyId)),
  );
  if (running) return <p className={classes.note}>{names.capturing(formats.clock(running.untilMs))}</p>;
  if (!(key ? manages(key.group) : isAdmin)) return null;
  const start = () => void command.run({ type: 'capture.start', minutes, ...(key && { key: key.id }) });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlayerRecord size={14} aria-hidden />}
        loading={command.isRunning}
        onClick={start}
      >
        {key
          ? names.captureKey(formats.number(minutes), key.name ?? key.id)
          : names.captureAll(formats.number(minutes))}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}
