import { costOfSum } from '../../../server/contract/ledger.ts';
import type { SessionTurn } from '../../../server/contract/session-views.ts';
import { Section } from '../../components/layout/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './Sessions.module.css';

/** Only the latest turns are shown, because more would not fit. */
const maxShown = 60;

/** A bar for each turn: its input tokens, and the part of them that came from a cache. */
export function TurnChart({ turns }: { turns: readonly SessionTurn[] }) {
  const { messages, formats } = useLocalization();
  const names = messages.sessions;
  const shown = turns.slice(-maxShown);
  const highest = Math.max(1, ...shown.map(({ inputTokens }) => inputTokens));
  if (shown.length < 2) return null;
  return (
    <Section title={names.chart} count={formats.number(turns.length)}>
      <div className={classes.panel}>
        <ul className={classes.bars}>
          {shown.map((turn) => {
            const { inputTokens, cachedInputTokens, errors } = turn;
            const text = names.turnBar(
              formats.number(turn.turn),
              formats.number(inputTokens),
              formats.number(cachedInputTokens),
              formats.cost(costOfSum(turn)),
            );
            const height = `${Math.max(2, (inputTokens / highest) * 100)}%`;
            const cached = `${inputTokens > 0 ? Math.min(1, cachedInputTokens / inputTokens) * 100 : 0}%`;
            return (
              <li key={turn.turn} className={classes.bar} title={text}>
                <span className={classes.hidden}>{text}</span>
                <span className={errors > 0 ? classes.columnBad : classes.column} style={{ height }} aria-hidden>
                  <span className={classes.cachedPart} style={{ height: cached }} />
                </span>
              </li>
            );
          })}
        </ul>
        <p className={classes.hint}>{names.chartHint}</p>
      </div>
    </Section>
  );
}
