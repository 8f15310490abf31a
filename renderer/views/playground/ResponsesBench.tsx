import { Checkbox, Textarea } from '@mantine/core';
import { useState } from 'react';
import { CopyLine } from '../../components/CopyLine.tsx';
import { ModelField } from '../../components/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import { createDataLineReader } from './data-lines.ts';
import { textAt } from './json-path.ts';
import classes from './Playground.module.css';
import { useExchange } from './use-exchange.ts';

/** One response, streamed; the next can follow from it by its id. */
export function ResponsesBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const [input, setInput] = useState('');
  const [follows, setFollows] = useState(false);
  const [responseId, setResponseId] = useState<string | null>(null);
  const [output, setOutput] = useState('');

  const send = async () => {
    setOutput('');
    const read = createDataLineReader((event) => {
      const type = textAt(event, 'type');
      if (type === 'response.output_text.delta') setOutput((old) => old + (textAt(event, 'delta') ?? ''));
      if (type === 'response.completed') setResponseId(textAt(event, 'response', 'id'));
    });
    const previous = follows && responseId ? { previous_response_id: responseId } : {};
    await runner.run({ path: '/responses', body: { model: models.model, input, stream: true, ...previous } }, read);
  };
  return (
    <Bench
      title={names.benches.responses}
      runner={runner}
      isIncomplete={input.trim() === ''}
      onSend={() => void send()}
      result={
        <>
          <p className={classes.words}>{output || <span className={classes.soft}>{names.responseEmpty}</span>}</p>
          {responseId && <CopyLine value={responseId} what={names.responseId} oneLine />}
        </>
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
      {responseId && (
        <Checkbox
          label={names.follows}
          checked={follows}
          onChange={(event) => setFollows(event.currentTarget.checked)}
        />
      )}
      <ModelField choice={models} />
    </Bench>
  );
}
