import { Textarea } from '@mantine/core';
import { useMessages } from '../../../messages/use-messages.ts';
import { at, parseJson } from '../../../state/calls/json-path.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';

interface Verdict {
  isFlagged: boolean;
  /** Highest score first. */
  scores: [category: string, score: number][];
}

const shownScores = 5;

const session = createSessionValue<{ input: string; verdict: Verdict | null }>({ input: '', verdict: null });
const exchangeStore = createExchangeStore();

/** Moderates a text. */
export function ModerationsPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'moderations');
  const [{ input, verdict }, change] = useSessionFields(session);

  const send = async () => {
    change({ verdict: null });
    const reply = await runner.run({ path: '/moderations', body: { model: models.model, input } });
    if (reply) change({ verdict: verdictOf(parseJson(reply.text)) });
  };
  return (
    <PlaygroundPanel
      title={names.panels.moderations}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={input.trim() === ''}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result: verdict ? (
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
            <p className={classes.empty}>{names.moderationsEmpty}</p>
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
    </PlaygroundPanel>
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
