import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { ModelField } from '../../components/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import { at, parseJson } from './json-path.ts';
import classes from './Playground.module.css';
import { useExchange } from './use-exchange.ts';

interface Verdict {
  isFlagged: boolean;
  /** The likeliest first. */
  scores: [category: string, score: number][];
}

const shownScores = 5;

/** What a service thinks of a text. */
export function ModerationsBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'moderations');
  const [input, setInput] = useState('');
  const [verdict, setVerdict] = useState<Verdict | null>(null);

  const send = async () => {
    setVerdict(null);
    const reply = await runner.run({ path: '/moderations', body: { model: models.model, input } });
    if (reply) setVerdict(verdictOf(parseJson(reply.text)));
  };
  return (
    <Bench
      title={names.benches.moderations}
      runner={runner}
      isIncomplete={input.trim() === ''}
      onSend={() => void send()}
      result={
        verdict ? (
          <>
            <p className={classes.words}>{verdict.isFlagged ? names.flagged : names.notFlagged}</p>
            <dl className={classes.scores}>
              {verdict.scores.slice(0, shownScores).map(([category, score]) => (
                <div key={category}>
                  <dt>{category}</dt>
                  <dd>{score.toFixed(4)}</dd>
                </div>
              ))}
            </dl>
          </>
        ) : (
          <p className={classes.soft}>{names.moderationsEmpty}</p>
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
      <ModelField choice={models} />
    </Bench>
  );
}

function verdictOf(reply: unknown): Verdict {
  const scores = Object.entries(at(reply, 'results', 0, 'category_scores') ?? {});
  return {
    isFlagged: at(reply, 'results', 0, 'flagged') === true,
    scores: scores
      .flatMap(([category, score]): [string, number][] => (typeof score === 'number' ? [[category, score]] : []))
      .sort(([, one], [, other]) => other - one),
  };
}
