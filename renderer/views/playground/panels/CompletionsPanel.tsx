import { Textarea } from '@mantine/core';
import { useMessages } from '../../../messages/use-messages.ts';
import { createDataLineReader } from '../../../state/calls/exchange.ts';
import { textAt } from '../../../state/calls/json-path.ts';
import { completionsParameters, countSet, noParameters } from '../../../state/chat/sampling.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { AnswerFacts } from '../call/ExchangeView.tsx';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { SamplingFields } from '../call/SamplingFields.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';

const session = createSessionValue({ prompt: '', output: '', sampling: noParameters });
const exchangeStore = createExchangeStore();

/** Streams the completion of a text. This is the legacy API, which editors still use. */
export function CompletionsPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const [{ prompt, output, sampling }, change] = useSessionFields(session);

  const send = async () => {
    change({ output: '' });
    const reader = createDataLineReader((chunk) => {
      const delta = textAt(chunk, 'choices', 0, 'text') ?? '';
      session.set((old) => ({ ...old, output: old.output + delta }));
    });
    const body = { model: models.model, prompt, stream: true, ...completionsParameters(sampling) };
    await runner.run({ path: '/completions', body }, reader);
  };
  return (
    <PlaygroundPanel
      title={names.panels.completions}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={prompt === ''}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result: (
            <>
              <p className={classes.words}>
                {output || <span className={classes.empty}>{names.completionEmpty}</span>}
              </p>
              {!runner.isRunning && <AnswerFacts requestId={runner.exchange?.requestId ?? null} />}
            </>
          ),
        },
      ]}
      options={{
        setCount: countSet(sampling),
        fields: (
          <SamplingFields draft={sampling} onChange={(next) => change({ sampling: next })} isConversation={false} />
        ),
      }}
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => change({ prompt: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={8}
      />
    </PlaygroundPanel>
  );
}
