import { Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMessages } from '../../../messages/use-messages.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';
import { useObjectUrl } from './use-object-url.ts';

const session = createSessionValue<{ input: string; voice: string; sound: Blob | null }>({
  input: '',
  voice: 'alloy',
  sound: null,
});
const exchangeStore = createExchangeStore();

/** Turns a text into speech. */
export function SpeechPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'speech');
  const [{ input, voice, sound }, change] = useSessionFields(session);
  // Audio from before the screen was left does not play again.
  const [isNew, setNew] = useState(false);
  const url = useObjectUrl(sound);

  const send = async () => {
    change({ sound: null });
    const reply = await runner.run({ path: '/audio/speech', body: { model: models.model, input, voice } });
    setNew(true);
    change({ sound: reply?.blob ?? null });
  };
  return (
    <PlaygroundPanel
      title={names.panels.speech}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!input.trim() || !voice.trim()}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result: url ? (
            <audio className={classes.player} controls autoPlay={isNew} src={url} aria-label={names.panels.speech}>
              <track kind="captions" />
            </audio>
          ) : (
            <p className={classes.empty}>{names.speechEmpty}</p>
          ),
        },
      ]}
    >
      <Textarea
        label={names.input}
        value={input}
        onChange={(event) => change({ input: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={8}
      />
      <TextInput label={names.voice} value={voice} onChange={(event) => change({ voice: event.currentTarget.value })} />
    </PlaygroundPanel>
  );
}
