import { useMemo } from 'react';
import { spreadOf } from '../../../../server/contract/spread.ts';
import figureTable from '../../../components/FigureTable.module.css';
import { useLocalization } from '../../../messages/use-messages.ts';
import type { LiveRequest } from '../../../state/live-request.ts';
import { useControlState } from '../../../state/use-control.ts';
import { answerTextOf } from './answer-text.ts';
import { Piece, useDiff } from './diff-pieces.tsx';
import classes from './SendAgain.module.css';
import type { ComparedModel } from './use-comparison.ts';

interface ComparedProps {
  models: readonly ComparedModel[];
  /** How often each model is asked. */
  times: number;
}

/** What each model took and cost, as the median and its range, and the latest text of each. */
export function ComparedModels({ models, times }: ComparedProps) {
  const { compare: names } = useLocalization().messages.inspector;
  const answered = models.filter(({ answers }) => answers.length > 0);
  const first = answered[0];
  if (!first) return null;
  return (
    <div className={classes.comparison}>
      <Figures models={answered} times={times} />
      <div className={classes.columns}>
        {answered.map((each) => (
          <LatestText key={each.model} compared={each} first={first} />
        ))}
      </div>
      {answered.length > 1 && <p className={classes.soft}>{names.differences(first.model)}</p>}
    </div>
  );
}

function Figures({ models, times }: ComparedProps) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const requests = useControlState((state) => state.requests);
  const recordsOf = ({ answers }: ComparedModel) =>
    answers.flatMap(({ status, requestId }) => requests.filter(({ id }) => id === requestId && status < 400));
  const rows: [
    name: string,
    read: (request: LiveRequest) => number | null | undefined,
    show: (value: number) => string,
  ][] = [
    [names.firstByte, ({ firstByteMs }) => firstByteMs, formats.duration],
    [names.duration, ({ totalMs }) => totalMs, formats.duration],
    [names.compare.outputTokens, ({ usage }) => usage?.outputTokens, formats.number],
    [messages.requests.cost, ({ costUsd }) => costUsd, formats.dollars],
  ];
  const shown = (compared: ComparedModel, read: (typeof rows)[number][1], show: (value: number) => string) => {
    const spread = spreadOf(recordsOf(compared).map(read));
    if (!spread) return '–';
    const [median, least, most] = [spread.median, spread.least, spread.most].map(show);
    return least === most ? median : `${median} (${least} – ${most})`;
  };
  return (
    <table className={figureTable.figures}>
      <thead>
        <tr>
          <td />
          {models.map(({ model }) => (
            <th key={model} scope="col">
              {model}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">{names.compare.answered}</th>
          {models.map(({ model, answers }) => (
            <td key={model}>{`${answers.filter(({ status }) => status < 400).length} / ${times}`}</td>
          ))}
        </tr>
        {rows.map(([name, read, show]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {models.map((each) => (
              <td key={each.model}>{shown(each, read, show)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** With marks where it differs from that of the first model. */
function LatestText({ compared, first }: { compared: ComparedModel; first: ComparedModel }) {
  const latest = compared.answers.at(-1);
  const firstLatest = first.answers.at(-1);
  const text = useMemo(() => answerTextOf(latest?.content ?? null) ?? '', [latest]);
  const firstText = useMemo(() => answerTextOf(firstLatest?.content ?? null) ?? '', [firstLatest]);
  const pieces = useDiff(compared === first ? null : firstText, text);
  return (
    <section className={classes.text} aria-label={compared.model}>
      <p className={classes.side}>{compared.model}</p>
      {pieces
        ? pieces.map(({ key, side, text: piece }) => side === 'first' || <Piece key={key} side={side} text={piece} />)
        : text}
    </section>
  );
}
