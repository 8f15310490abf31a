import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { ModelField } from '../../components/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import { createDataLineReader } from './data-lines.ts';
import { textAt } from './json-path.ts';
import classes from './Playground.module.css';
import { useExchange } from './use-exchange.ts';

/** A text that goes on, streamed: the older API, which editors still use. */
export function CompletionsBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const [prompt, setPrompt] = useState('');
  const [output, setOutput] = useState('');

  const send = async () => {
    setOutput('');
    const read = createDataLineReader((chunk) => setOutput((old) => old + (textAt(chunk, 'choices', 0, 'text') ?? '')));
    await runner.run({ path: '/completions', body: { model: models.model, prompt, stream: true } }, read);
  };
  return (
    <Bench
      title={names.benches.completions}
      runner={runner}
      isIncomplete={prompt === ''}
      onSend={() => void send()}
      result={
        <p className={classes.words}>{output || <span className={classes.soft}>{names.completionEmpty}</span>}</p>
      }
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => setPrompt(event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={8}
      />
      <ModelField choice={models} />
    </Bench>
  );
}
