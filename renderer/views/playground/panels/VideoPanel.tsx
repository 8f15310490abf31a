import { Button, NativeSelect, Progress, Textarea, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useEffect } from 'react';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';
import { useObjectUrl } from './use-object-url.ts';
import { useVideoJob } from './use-video-job.ts';

const lengths = ['4', '8', '12'];
const sizes = ['720x1280', '1280x720'];

const session = createSessionValue({ prompt: '', seconds: '4', size: '1280x720' });
const exchangeStore = createExchangeStore();

/** Creates a video: starts a job, shows its progress, and then the video. */
export function VideoPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const runner = useExchange(keyChoice, exchangeStore);
  const job = useVideoJob(runner);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'videos');
  const [{ prompt, seconds, size }, change] = useSessionFields(session);
  // Kept after the screen and window are closed, because the video has been paid for.
  const [videoId, setVideoId] = useLocalStorage({ key: 'sluice-playground-video', defaultValue: '' });
  const orderedId = job.state?.id;
  useEffect(() => {
    if (orderedId) setVideoId(orderedId);
  }, [orderedId, setVideoId]);
  const canFollow = videoId !== '' && runner.canRun && !job.isRunning;
  const follow = () => {
    if (canFollow) void job.follow(videoId);
  };
  const url = useObjectUrl(job.video);
  return (
    <PlaygroundPanel
      title={names.panels.videos}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!prompt.trim()}
      isBusy={job.isRunning}
      onSend={() => void job.start({ model: models.model, prompt, seconds, size })}
      onStop={job.stop}
      lanes={[
        {
          runner,
          result: (
            <>
              {job.state && (
                <>
                  <p className={classes.words}>
                    {names.videoState(job.state.status, formats.number(job.state.progressPercent))}
                  </p>
                  <CopyLine value={job.state.id} label={names.videoId} oneLine />
                  <Progress
                    value={job.state.progressPercent}
                    animated={job.isRunning}
                    aria-label={names.panels.videos}
                  />
                  {job.state.error && (
                    <p className={classes.bad} role="alert">
                      {job.state.error}
                    </p>
                  )}
                </>
              )}
              {job.isRetrying && <p className={classes.soft}>{names.videoAskedAgain}</p>}
              {!job.state && <p className={classes.empty}>{names.videosEmpty}</p>}
              {url && (
                <video className={classes.player} controls src={url} aria-label={prompt}>
                  <track kind="captions" />
                </video>
              )}
            </>
          ),
        },
      ]}
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => change({ prompt: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={6}
      />
      <NativeSelect
        label={names.seconds}
        value={seconds}
        onChange={(event) => change({ seconds: event.currentTarget.value })}
        data={lengths}
      />
      <NativeSelect
        label={names.size}
        value={size}
        onChange={(event) => change({ size: event.currentTarget.value })}
        data={sizes}
      />
      <div className={classes.withAct}>
        <TextInput
          label={names.videoId}
          description={names.videoFollowHint}
          value={videoId}
          onChange={(event) => setVideoId(event.currentTarget.value.trim())}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // Otherwise Enter would order another video.
            event.preventDefault();
            follow();
          }}
        />
        <Button size="sm" variant="default" disabled={!canFollow} onClick={follow}>
          {names.videoFollow}
        </Button>
      </div>
    </PlaygroundPanel>
  );
}
