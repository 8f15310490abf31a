import { Button } from '@mantine/core';
import { IconMicrophone, IconPlayerStopFilled } from '@tabler/icons-react';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useNow } from '../../../state/window/use-now.ts';
import classes from '../Playground.module.css';
import { useRecorder } from './use-recorder.ts';

/** Records speech. Renders nothing if the page may not use a microphone. */
export function RecordButton({ onRecorded }: { onRecorded(file: File): void }) {
  const { messages, formats } = useLocalization();
  const { playground: names } = messages;
  const recorder = useRecorder(onRecorded);
  const { since } = recorder;
  const seconds = useNow((now) => (since === null ? 0 : Math.max(0, Math.floor((now - since) / 1_000))));
  if (!recorder.isPossible) return null;
  return (
    <div className={classes.pick}>
      {since === null ? (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconMicrophone size={14} />}
          loading={recorder.state === 'asking'}
          onClick={recorder.start}
        >
          {names.record}
        </Button>
      ) : (
        <>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlayerStopFilled size={14} className={classes.bad} />}
            onClick={recorder.stop}
          >
            {names.recordStop}
          </Button>
          <span role="timer">{formats.duration(seconds * 1_000)}</span>
        </>
      )}
      {recorder.problem && (
        <p className={classes.bad} role="alert">
          {names.recordProblems[recorder.problem]}
        </p>
      )}
    </div>
  );
}
