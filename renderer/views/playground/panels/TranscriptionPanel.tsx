import { Checkbox } from '@mantine/core';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { parseJson, textAt } from '../../../state/calls/json-path.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { FilePicker } from '../call/FilePicker.tsx';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';
import { RecordButton } from './RecordButton.tsx';
import { useObjectUrl } from './use-object-url.ts';

const session = createSessionValue<{ file: File | null; translates: boolean; text: string | null }>({
  file: null,
  translates: false,
  text: null,
});
const exchangeStore = createExchangeStore();

/** Transcribes a recording from a file or the microphone, or translates it into English. */
export function TranscriptionPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'transcription');
  const [{ file, translates, text }, change] = useSessionFields(session);
  const url = useObjectUrl(file);

  const send = async () => {
    if (!file) return;
    change({ text: null });
    const body = new FormData();
    body.append('model', models.model);
    body.append('file', file, file.name);
    const reply = await runner.run({ path: translates ? '/audio/translations' : '/audio/transcriptions', body });
    change({ text: reply && (textAt(parseJson(reply.text), 'text') ?? reply.text) });
  };
  return (
    <PlaygroundPanel
      title={names.panels.transcription}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!file}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result:
            text === null ? (
              <p className={classes.empty}>{names.transcriptionEmpty}</p>
            ) : (
              <div className={classes.withCopy}>
                <p className={classes.words}>{text}</p>
                <CopyButton value={text} label={names.panels.transcription} />
              </div>
            ),
        },
      ]}
    >
      <FilePicker label={names.chooseAudio} accept="audio/*,video/*" file={file} onPick={(file) => change({ file })} />
      <RecordButton onRecorded={(file) => change({ file })} />
      {url && (
        <audio className={classes.player} controls src={url} aria-label={names.chosenAudio}>
          <track kind="captions" />
        </audio>
      )}
      <Checkbox
        label={names.translates}
        checked={translates}
        onChange={(event) => change({ translates: event.currentTarget.checked })}
      />
    </PlaygroundPanel>
  );
}
