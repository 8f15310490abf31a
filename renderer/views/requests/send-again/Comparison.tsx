import { type ComponentProps, type ReactNode, useMemo } from 'react';
import { Link } from 'wouter';
import { answerTextOf, contentOf, saidTextOf } from '../../../../server/contract/conversation/body-content.ts';
import { costOf } from '../../../../server/contract/ledger.ts';
import type { RequestInFull, RequestView } from '../../../../server/contract/request-views.ts';
import { MediaBody } from '../../../components/body/BodyView.tsx';
import { nothing } from '../../../messages/formats.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import type { LiveRequest } from '../../../state/requests/live-request.ts';
import { ComparedTexts } from './ComparedTexts.tsx';
import classes from './SendAgain.module.css';
import type { SecondAnswer } from './use-second-answer.ts';

interface ComparisonProps {
  full: RequestInFull;
  second: Extract<SecondAnswer, { state: 'here' }>;
}

/** The first answer and the second: duration, usage, cost, and the differences between their texts. */
export function Comparison({ full: { request, capture }, second }: ComparisonProps) {
  const { inspector: names } = useLocalization().messages;
  const live = useControlState((state) => state.requests.find(({ id }) => id === second.requestId) ?? null);
  const firstText = useMemo(() => (capture ? answerTextOf(contentOf(capture.response)) : null), [capture]);
  const secondText = useMemo(() => answerTextOf(second.content), [second]);
  const areAnswers = useMemo(
    () => (!capture || saidTextOf(contentOf(capture.response)) !== null) && saidTextOf(second.content) !== null,
    [capture, second],
  );
  const { content } = second;
  const error = content?.kind === 'stream' && content.assembled?.error ? JSON.stringify(content.assembled.error) : null;
  return (
    <div className={classes.comparison}>
      <RequestFigures first={request} second={live} secondStatus={second.status} heads={[names.before, names.now]} />
      {error && (
        <p className={classes.problem} role="alert">
          {names.errorInStream(error)}
        </p>
      )}
      {content && 'base64' in content && <MediaBody content={content} title={names.now} bytes={null} />}
      {secondText !== null && (
        <ComparedTexts
          first={firstText}
          second={secondText}
          heads={[names.before, names.now]}
          areAnswers={areAnswers}
        />
      )}
      {second.requestId && (
        <Link href={`/requests/${second.requestId}`} className={classes.link}>
          {names.openSecond}
        </Link>
      )}
    </div>
  );
}

interface RequestFiguresProps {
  first: RequestView;
  /** Null until the engine's event for it has arrived. */
  second: LiveRequest | null;
  /** Known before the rest of `second`. */
  secondStatus?: number | null;
  heads: readonly [first: string, second: string];
  /** Further rows, above the others. */
  more?: ComponentProps<typeof FigureTable>['rows'];
}

/** Status, target, times, tokens and cost of two requests. */
export function RequestFigures({ first, second, secondStatus, heads, more = [] }: RequestFiguresProps) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const providerName = useProviderName();
  const figures = (request: LiveRequest | null, statusCode: number | null): ReactNode[] => {
    const { provider, modelServed, totalMs, firstByteMs, usage } = request ?? noFigures;
    const tokens = [usage?.inputTokens, usage?.outputTokens];
    return [
      statusCode,
      provider && providerName(provider),
      modelServed,
      firstByteMs !== null && formats.duration(firstByteMs),
      totalMs !== null && formats.duration(totalMs),
      tokens.some((count) => count !== undefined) && tokens.map((count) => formats.number(count ?? 0)).join(' / '),
      request && formats.cost(costOf(request, usage !== null)),
    ];
  };
  const [then, now] = [figures(first, first.status), figures(second, secondStatus ?? second?.status ?? null)];
  const rows = [
    names.status,
    names.provider,
    names.model,
    names.firstByte,
    names.duration,
    names.tokensInOut,
    messages.requests.cost,
  ];
  return (
    <FigureTable
      heads={heads}
      rows={[...more, ...rows.map((name, index) => ({ name, values: [then[index], now[index]] }))]}
    />
  );
}

const noFigures = { provider: null, modelServed: null, totalMs: null, firstByteMs: null, usage: null };

interface FigureTableProps {
  /** Headings of the columns of figures. */
  heads: readonly string[];
  /** One value per column; an empty value is shown as a dash. */
  rows: readonly { name: string; values: readonly ReactNode[] }[];
}

/** Compares the figures of several requests side by side. */
export function FigureTable({ heads, rows }: FigureTableProps) {
  return (
    <table className={classes.figures}>
      <thead>
        <tr>
          <td />
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, values }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {heads.map((head, column) => (
              <td key={head}>{values[column] || nothing}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
