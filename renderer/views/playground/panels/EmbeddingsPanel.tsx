import { Progress, Textarea } from '@mantine/core';
import { useLocalization } from '../../../messages/use-messages.ts';
import { parseJson } from '../../../state/calls/json-path.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';
import { cosineSimilarity, vectorsOf } from './similarity.ts';

const session = createSessionValue<{
  one: string;
  other: string;
  outcome: { similarity: number; dimensions: number } | null;
}>({ one: '', other: '', outcome: null });
const exchangeStore = createExchangeStore();

/** Computes the similarity of two texts. */
export function EmbeddingsPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'embeddings');
  const [{ one, other, outcome }, change] = useSessionFields(session);

  const send = async () => {
    change({ outcome: null });
    const body = { model: models.model, input: [one, other], encoding_format: 'float' };
    const reply = await runner.run({ path: '/embeddings', body });
    const [first, second] = vectorsOf(reply && parseJson(reply.text));
    if (first && second) change({ outcome: { similarity: cosineSimilarity(first, second), dimensions: first.length } });
  };
  return (
    <PlaygroundPanel
      title={names.panels.embeddings}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!one.trim() || !other.trim()}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result: outcome ? (
            <>
              <p className={classes.words}>
                {names.similarity(outcome.similarity.toFixed(4), formats.number(outcome.dimensions))}
              </p>
              <Progress value={Math.max(0, outcome.similarity) * 100} aria-label={names.panels.embeddings} />
            </>
          ) : (
            <p className={classes.empty}>{names.embeddingsEmpty}</p>
          ),
        },
      ]}
    >
      <Textarea
        label={names.firstText}
        value={one}
        onChange={(event) => change({ one: event.currentTarget.value })}
        rows={2}
      />
      <Textarea
        label={names.secondText}
        value={other}
        onChange={(event) => change({ other: event.currentTarget.value })}
        rows={2}
      />
    </PlaygroundPanel>
  );
}
