import { Link } from 'wouter';
import { meaningOf } from '../../../server/contract/count.ts';
import { costOf, costOfSum, isApproximate, type ToolResult } from '../../../server/contract/ledger.ts';
import type { SessionRequest, SessionTurn, ToolCallText } from '../../../server/contract/session-views.ts';
import { Section } from '../../components/layout/Section.tsx';
import { withIndexKeys } from '../../components/lists/with-index-keys.ts';
import { nothing } from '../../messages/formats.ts';
import { type Localization, useLocalization } from '../../messages/use-messages.ts';
import type { RequestTexts } from '../../state/control/use-request-texts.ts';
import classes from './Sessions.module.css';
import { toolUsesOf } from './session-facts.ts';

interface TurnTableProps {
  turn: SessionTurn;
  requests: readonly SessionRequest[];
  texts: RequestTexts;
}

/** One turn: what the person asked, and the requests that answer it, each a link to its details. */
export function TurnTable({ turn, requests, texts }: TurnTableProps) {
  const { messages, formats } = useLocalization();
  const { columns, turn: titleOf, tokens, context } = messages.sessions;
  const prompt = requests.map(({ id }) => texts.get(id)?.prompt).find((text) => text != null);
  const ran = turn.endedAt === null ? null : formats.duration(turn.endedAt - turn.startedAt);
  const sums = tokens(formats.compact(turn.inputTokens), formats.compact(turn.outputTokens));
  return (
    <Section
      title={titleOf(formats.number(turn.turn))}
      count={formats.dayAndClock(turn.startedAt)}
      action={
        <span className={classes.soft}>
          <span className={classes.wide}>
            {sums} · {turn.contextTokens !== null && `${context(formats.compact(turn.contextTokens))} · `}
          </span>
          {ran !== null && `${ran} · `}
          {formats.cost(costOfSum(turn))}
        </span>
      }
    >
      {prompt != null && <p className={classes.prompt}>{prompt}</p>}
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{columns.request}</th>
            <th scope="col" className={classes.wide}>
              {columns.model}
            </th>
            <th scope="col">{columns.input}</th>
            <th scope="col">{columns.cached}</th>
            <th scope="col" className={classes.wide}>
              {columns.output}
            </th>
            <th scope="col">{columns.cost}</th>
            <th scope="col" className={classes.wide}>
              {columns.time}
            </th>
          </tr>
        </thead>
        <tbody>
          {requests.map((request) => (
            <Row key={request.id} request={request} calls={texts.get(request.id)?.calls ?? []} />
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Row({ request, calls }: { request: SessionRequest; calls: readonly ToolCallText[] }) {
  const localization = useLocalization();
  const { messages, formats } = localization;
  const names = messages.sessions;
  const { id, isToolResult, thread, verdict, modelServed, modelAsked, usageCertainty, totalMs } = request;
  const step = isToolResult === null ? names.steps.other : isToolResult ? names.steps.tools : names.steps.prompt;
  const notes = notesOf(request, localization);
  const certainty = isApproximate(usageCertainty) ? messages.requests.certainties[usageCertainty] : undefined;
  const about = certainty === undefined ? '' : '≈';
  const number = (value: number | null, mark = '') => (value === null ? nothing : `${mark}${formats.compact(value)}`);
  return (
    <tr>
      <td>
        <Link href={`/requests/${id}`} className={classes.link}>
          {step}
        </Link>
        {thread > 0 && <span className={classes.soft}> {names.beside(formats.number(thread))}</span>}
        {verdict !== 'ok' && (
          <span className={verdict === 'running' ? classes.running : classes[meaningOf[verdict]]}>
            {' '}
            {messages.verdicts[verdict]}
            {request.errorCode !== null && ` (${request.errorCode})`}
          </span>
        )}
        {request.tools.length > 0 && <Tools tools={request.tools} calls={calls} />}
        {notes.map((note) => (
          <span key={note} className={classes.note}>
            {note}
          </span>
        ))}
      </td>
      <td className={classes.wide}>{modelServed ?? modelAsked ?? nothing}</td>
      <td title={certainty}>{number(request.inputTokens, about)}</td>
      <td>{number(request.cachedInputTokens)}</td>
      <td className={classes.wide} title={certainty}>
        {number(request.outputTokens, about)}
      </td>
      <td title={certainty}>{formats.cost(costOf(request, request.inputTokens !== null), about)}</td>
      <td className={classes.wide}>{totalMs === null ? nothing : formats.duration(totalMs)}</td>
    </tr>
  );
}

/** The tool calls whose results the request contains. The results themselves are in the request's capture. */
function Tools({ tools, calls }: { tools: readonly ToolResult[]; calls: readonly ToolCallText[] }) {
  const { messages, formats } = useLocalization();
  const names = messages.sessions;
  return (
    <ul className={classes.tools}>
      {withIndexKeys(toolUsesOf(tools, calls)).map(({ key, value: { name, argument, hasFailed, count, bytes } }) => (
        <li key={key} className={hasFailed ? classes.bad : classes.soft}>
          <span className={classes.tool}>{name ?? names.unknownTool}</span>
          {argument !== null && <span className={classes.argument}> {argument}</span>}
          {count > 1 && ` ×${formats.number(count)}`} {formats.bytes(bytes)}
          {hasFailed && ` ${names.toolFailed}`}
        </li>
      ))}
    </ul>
  );
}

/** What was unusual about a request. */
function notesOf(request: SessionRequest, { messages, formats }: Localization): string[] {
  const { sessions: names } = messages;
  const { cacheLoss, modelBefore, isShorter, attempts, clientRetries } = request;
  return [
    cacheLoss &&
      names.cacheLoss[cacheLoss.cause](
        formats.compact(cacheLoss.tokens),
        cacheLoss.costUsd ? ` (${formats.dollars(cacheLoss.costUsd)})` : '',
      ),
    modelBefore !== null && names.modelBefore(modelBefore),
    isShorter && names.isShorter,
    attempts > 1 && names.attempts(formats.number(attempts)),
    clientRetries > 0 && names.sentAgain,
  ].filter((note) => typeof note === 'string');
}

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
            const { inputTokens, cachedInputTokens, failed } = turn;
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
                <span className={failed > 0 ? classes.columnBad : classes.column} style={{ height }} aria-hidden>
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
