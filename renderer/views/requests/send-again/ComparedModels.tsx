import { useMemo, useState } from 'react';
import { answerTextOf, saidTextOf } from '../../../../server/contract/conversation/body-content.ts';
import { spreadOf } from '../../../../server/contract/sent-request.ts';
import { ModeSwitch } from '../../../components/conversation/ConversationView.tsx';
import { FigureTable } from '../../../components/lists/FigureTable.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { ComparedText } from './ComparedText.tsx';
import { useDiff } from './diff-pieces.tsx';
import classes from './SendAgain.module.css';
import type { ComparedModel } from './use-comparison.ts';

interface ComparedProps {
  models: readonly ComparedModel[];
  /** How often each model is called. */
  times: number;
}

/** The duration and cost of each model, as median and range, and the latest text of each. */
export function ComparedModels({ models, times }: ComparedProps) {
  const { compare: names } = useLocalization().messages.inspector;
  const [isRaw, setRaw] = useState(false);
  const answeredModels = models.filter(({ answers }) => answers.length > 0);
  const first = answeredModels[0];
  if (!first) return null;
  return (
    <div className={classes.comparison}>
      <Figures models={answeredModels} times={times} />
      <ModeSwitch isRaw={isRaw} onChange={setRaw} />
      <div className={classes.columns}>
        {answeredModels.map((each) => (
          <LatestText key={each.model} compared={each} first={first} isRaw={isRaw} />
        ))}
      </div>
      {answeredModels.length > 1 && <p className={classes.soft}>{names.differences(first.model)}</p>}
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
  const spreadText = (compared: ComparedModel, read: (typeof rows)[number][1], show: (value: number) => string) => {
    const spread = spreadOf(recordsOf(compared).map(read));
    if (!spread) return null;
    const [median, least, most] = [spread.median, spread.least, spread.most].map(show);
    return least === most ? median : `${median} (${least} – ${most})`;
  };
  const answeredCounts = models.map(
    ({ answers }) => `${answers.filter(({ status }) => status < 400).length} / ${times}`,
  );
  return (
    <FigureTable
      heads={models.map(({ model }) => model)}
      rows={[
        { name: names.compare.answered, values: answeredCounts },
        ...rows.map(([name, read, show]) => ({ name, values: models.map((each) => spreadText(each, read, show)) })),
      ]}
    />
  );
}

interface LatestTextProps {
  compared: ComparedModel;
  first: ComparedModel;
  isRaw: boolean;
}

/** Marks the differences from the first model's text. */
function LatestText({ compared, first, isRaw }: LatestTextProps) {
  const latest = compared.answers.at(-1);
  const firstLatest = first.answers.at(-1);
  const text = useMemo(() => answerTextOf(latest?.content ?? null) ?? '', [latest]);
  const isSaid = useMemo(() => saidTextOf(latest?.content ?? null) !== null, [latest]);
  const firstText = useMemo(() => answerTextOf(firstLatest?.content ?? null) ?? '', [firstLatest]);
  const pieces = useDiff(compared === first ? null : firstText, text);
  return <ComparedText head={compared.model} text={text} pieces={pieces} side="second" isMarkdown={!isRaw && isSaid} />;
}
