import { NativeSelect, Progress, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ModelField } from '../../components/ModelField.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import classes from './Playground.module.css';
import { useExchange } from './use-exchange.ts';
import { useObjectUrl } from './use-object-url.ts';
import { useVideoJob } from './use-video-job.ts';

const lengths = ['4', '8', '12'];
const sizes = ['720x1280', '1280x720'];

/** A video: a job that takes its time, then something to look at. */
export function VideoBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const runner = useExchange(keyChoice);
  const job = useVideoJob(runner);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'videos');
  const [prompt, setPrompt] = useState('');
  const [seconds, setSeconds] = useState('4');
  const [size, setSize] = useState('1280x720');
  const url = useObjectUrl(job.video);
  return (
    <Bench
      title={names.benches.videos}
      runner={runner}
      isIncomplete={!prompt.trim()}
      isBusy={job.isRunning}
      onSend={() => void job.start({ model: models.model, prompt, seconds, size })}
      onStop={job.stop}
      result={
        <>
          {job.state && (
            <>
              <p className={classes.words}>
                {names.videoState(job.state.status, formats.number(job.state.progressPercent))}
              </p>
              <Progress value={job.state.progressPercent} animated={job.isRunning} aria-label={names.benches.videos} />
              {job.state.error && (
                <p className={classes.bad} role="alert">
                  {job.state.error}
                </p>
              )}
            </>
          )}
          {!job.state && <p className={classes.soft}>{names.videosEmpty}</p>}
          {url && (
            <video className={classes.player} controls src={url} aria-label={prompt}>
              <track kind="captions" />
            </video>
          )}
        </>
      }
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => setPrompt(event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={6}
      />
      <NativeSelect
        label={names.seconds}
        value={seconds}
        onChange={(event) => setSeconds(event.currentTarget.value)}
        data={lengths}
      />
      <NativeSelect
        label={names.size}
        value={size}
        onChange={(event) => setSize(event.currentTarget.value)}
        data={sizes}
      />
      <ModelField choice={models} />
    </Bench>
  );
}
