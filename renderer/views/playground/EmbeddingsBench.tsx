import { Progress, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ModelField } from '../../components/ModelField.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import { parseJson } from './json-path.ts';
import classes from './Playground.module.css';
import { cosineSimilarity, vectorsOf } from './similarity.ts';
import { useExchange } from './use-exchange.ts';

/** How near two texts are to each other. */
export function EmbeddingsBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'embeddings');
  const [one, setOne] = useState('');
  const [other, setOther] = useState('');
  const [outcome, setOutcome] = useState<{ similarity: number; dimensions: number } | null>(null);

  const send = async () => {
    setOutcome(null);
    const body = { model: models.model, input: [one, other], encoding_format: 'float' };
    const reply = await runner.run({ path: '/embeddings', body });
    const [first, second] = vectorsOf(reply && parseJson(reply.text));
    if (first && second) setOutcome({ similarity: cosineSimilarity(first, second), dimensions: first.length });
  };
  return (
    <Bench
      title={names.benches.embeddings}
      runner={runner}
      isIncomplete={!one.trim() || !other.trim()}
      onSend={() => void send()}
      result={
        outcome ? (
          <>
            <p className={classes.words}>
              {names.similarity(outcome.similarity.toFixed(4), formats.number(outcome.dimensions))}
            </p>
            <Progress value={Math.max(0, outcome.similarity) * 100} aria-label={names.benches.embeddings} />
          </>
        ) : (
          <p className={classes.soft}>{names.embeddingsEmpty}</p>
        )
      }
    >
      <Textarea label={names.firstText} value={one} onChange={(event) => setOne(event.currentTarget.value)} rows={2} />
      <Textarea
        label={names.secondText}
        value={other}
        onChange={(event) => setOther(event.currentTarget.value)}
        rows={2}
      />
      <ModelField choice={models} />
    </Bench>
  );
}
