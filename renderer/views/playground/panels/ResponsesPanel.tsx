import { Checkbox, Textarea } from '@mantine/core';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { AnswerText } from '../../../components/text/AnswerText.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { createDataLineReader } from '../../../state/calls/exchange.ts';
import { textAt } from '../../../state/calls/json-path.ts';
import { countSet, noParameters, responsesParameters, schemaOf } from '../../../state/chat/sampling.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { AnswerFacts } from '../call/ExchangeView.tsx';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { SamplingFields } from '../call/SamplingFields.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';

const session = createSessionValue({
  input: '',
  instructions: '',
  follows: false,
  responseId: '',
  output: '',
  sampling: noParameters,
});
const exchangeStore = createExchangeStore();

/** A streamed response. The next one can continue from it by its id. */
export function ResponsesPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const [fields, change] = useSessionFields(session);
  const { input, instructions, follows, responseId, output, sampling } = fields;

  const send = async () => {
    change({ output: '' });
    const reader = createDataLineReader((event) => {
      const type = textAt(event, 'type');
      const delta = textAt(event, 'delta') ?? '';
      if (type === 'response.output_text.delta') session.set((old) => ({ ...old, output: old.output + delta }));
      if (type === 'response.completed') change({ responseId: textAt(event, 'response', 'id') ?? '' });
    });
    const body = {
      model: models.model,
      input,
      stream: true,
      ...(instructions.trim() && { instructions }),
      ...(follows && responseId && { previous_response_id: responseId }),
      ...responsesParameters(sampling),
    };
    await runner.run({ path: '/responses', body }, reader);
  };
  const failure = runner.exchange?.failure ?? null;
  return (
    <PlaygroundPanel
      title={names.panels.responses}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={input.trim() === '' || schemaOf(sampling) === null}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result: (
            <>
              {output ? (
                <AnswerText text={output} />
              ) : (
                !failure && <p className={classes.empty}>{names.responseEmpty}</p>
              )}
              {!runner.isRunning && <AnswerFacts requestId={runner.exchange?.requestId ?? null} />}
              {responseId && <CopyLine value={responseId} label={names.responseId} oneLine />}
            </>
          ),
        },
      ]}
      options={{
        setCount: countSet(sampling, instructions),
        fields: (
          <>
            <Textarea
              label={names.system}
              value={instructions}
              onChange={(event) => change({ instructions: event.currentTarget.value })}
              autosize
              minRows={1}
              maxRows={6}
            />
            <SamplingFields draft={sampling} onChange={(next) => change({ sampling: next })} />
          </>
        ),
      }}
    >
      <Textarea
        label={names.input}
        value={input}
        onChange={(event) => change({ input: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={8}
      />
      {responseId && (
        <Checkbox
          label={names.follows}
          checked={follows}
          onChange={(event) => change({ follows: event.currentTarget.checked })}
        />
      )}
    </PlaygroundPanel>
  );
}
