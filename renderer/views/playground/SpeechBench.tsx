import { Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ModelField } from '../../components/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import classes from './Playground.module.css';
import { useExchange } from './use-exchange.ts';
import { useObjectUrl } from './use-object-url.ts';

/** A text, spoken. */
export function SpeechBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'speech');
  const [input, setInput] = useState('');
  const [voice, setVoice] = useState('alloy');
  const [sound, setSound] = useState<Blob | null>(null);
  const url = useObjectUrl(sound);

  const send = async () => {
    setSound(null);
    const reply = await runner.run({ path: '/audio/speech', body: { model: models.model, input, voice } });
    setSound(reply?.blob ?? null);
  };
  return (
    <Bench
      title={names.benches.speech}
      runner={runner}
      isIncomplete={!input.trim() || !voice.trim()}
      onSend={() => void send()}
      result={
        url ? (
          <audio className={classes.player} controls autoPlay src={url} aria-label={names.benches.speech}>
            <track kind="captions" />
          </audio>
        ) : (
          <p className={classes.soft}>{names.speechEmpty}</p>
        )
      }
    >
      <Textarea
        label={names.input}
        value={input}
        onChange={(event) => setInput(event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={8}
      />
      <TextInput label={names.voice} value={voice} onChange={(event) => setVoice(event.currentTarget.value)} />
      <ModelField choice={models} />
    </Bench>
  );
}
