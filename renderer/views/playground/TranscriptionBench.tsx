import { Checkbox } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '../../components/CopyButton.tsx';
import { ModelField } from '../../components/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import { FilePick } from './FilePick.tsx';
import { parseJson, textAt } from './json-path.ts';
import classes from './Playground.module.css';
import { RecordButton } from './RecordButton.tsx';
import { useExchange } from './use-exchange.ts';
import { useObjectUrl } from './use-object-url.ts';

/** What is said in a recording, from a file or the microphone; in its own language or in English. */
export function TranscriptionBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'transcription');
  const [file, setFile] = useState<File | null>(null);
  const [translates, setTranslates] = useState(false);
  const [text, setText] = useState<string | null>(null);
  const url = useObjectUrl(file);

  const send = async () => {
    if (!file) return;
    setText(null);
    const body = new FormData();
    body.append('model', models.model);
    body.append('file', file, file.name);
    const reply = await runner.run({ path: translates ? '/audio/translations' : '/audio/transcriptions', body });
    setText(reply && (textAt(parseJson(reply.text), 'text') ?? reply.text));
  };
  return (
    <Bench
      title={names.benches.transcription}
      runner={runner}
      isIncomplete={!file}
      onSend={() => void send()}
      result={
        text === null ? (
          <p className={classes.soft}>{names.transcriptionEmpty}</p>
        ) : (
          <div className={classes.withCopy}>
            <p className={classes.words}>{text}</p>
            <CopyButton value={text} what={names.benches.transcription} />
          </div>
        )
      }
    >
      <FilePick label={names.chooseAudio} accept="audio/*,video/*" file={file} onPick={setFile} />
      <RecordButton onRecorded={setFile} />
      {url && (
        <audio className={classes.player} controls src={url} aria-label={names.chosenAudio}>
          <track kind="captions" />
        </audio>
      )}
      <Checkbox
        label={names.translates}
        checked={translates}
        onChange={(event) => setTranslates(event.currentTarget.checked)}
      />
      <ModelField choice={models} />
    </Bench>
  );
}
