import { Button } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { CapturedMessage, HeaderList } from '../../../../server/contract/capture.ts';
import { contentOf, saidTextOf } from '../../../../server/contract/conversation/body-content.ts';
import type { CapturedBody, RequestInFull } from '../../../../server/contract/request-views.ts';
import { ModalFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { ListSkeleton } from '../../../components/feedback/ListSkeleton.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { formatJson } from '../../../state/captured/format-json.ts';
import { useNameOf } from '../../../state/control/use-found.ts';
import { useQuery } from '../../../state/control/use-query.ts';
import { useAddressChange } from '../../../state/window/hash-location.ts';
import classes from '../detail/RequestPanel.module.css';
import listClasses from '../Requests.module.css';
import { ComparedTexts } from '../send-again/ComparedTexts.tsx';
import { RequestFigures } from '../send-again/Comparison.tsx';
import { clearPicks, comparePicked, usePicked } from './picked.ts';

/** Of a longer text, only the beginning is compared. */
const mostCompared = 300_000;

/** The differences between the two selected requests, if they are to be shown. */
export function RequestDiff() {
  const { requests: names } = useLocalization().messages;
  const { ids, isCompared } = usePicked();
  const [first, second] = ids;
  const isShown = isCompared && first !== undefined && second !== undefined;
  useAddressChange(() => isCompared && comparePicked(false));
  return (
    <ModalFrame opened={isShown} width="widest" title={names.diff.title} onClose={() => comparePicked(false)}>
      {isShown && <Queried ids={[first, second]} />}
    </ModalFrame>
  );
}

function Queried({ ids: [firstId, secondId] }: { ids: readonly [string, string] }) {
  const first = useQuery<'request'>({ type: 'request', id: firstId });
  const second = useQuery<'request'>({ type: 'request', id: secondId });
  const problem = first.problem ?? second.problem;
  if (problem) return <CommandProblem problem={problem} />;
  if (!first.answer || !second.answer) return <ListSkeleton rows={6} rowHeight={28} />;
  // The earlier one first, in whatever order they were selected.
  const isInOrder = first.answer.request.startedAt <= second.answer.request.startedAt;
  return isInOrder ? (
    <Differences first={first.answer} second={second.answer} />
  ) : (
    <Differences first={second.answer} second={first.answer} />
  );
}

interface Pair {
  first: RequestInFull;
  second: RequestInFull;
}

function Differences({ first, second }: Pair) {
  const { messages, formats } = useLocalization();
  const { diff: names, factNames, captureAbsences } = messages.requests;
  const { inspector } = messages;
  const keys = [useNameOf('key', first.request.keyId), useNameOf('key', second.request.keyId)];
  const pair = [first, second];
  const texts = useMemo(() => [textsOf(first), textsOf(second)], [first, second]);
  const haveAnswers = texts.every((each) => each?.isAnswer !== false);
  const heads: readonly [string, string] = [names.first, names.second];
  const parts = [
    ['request', names.request],
    ['answer', names.answer],
    ['requestHeaders', inspector.requestHeaders],
    ['responseHeaders', inspector.responseHeaders],
  ] as const;
  return (
    <div className={classes.detail}>
      <RequestFigures
        first={first.request}
        second={second.request}
        heads={heads}
        more={[
          {
            name: messages.requests.columns.time,
            values: pair.map(({ request }) => formats.fullMoment(request.startedAt)),
          },
          { name: factNames.key, values: keys },
        ]}
      />
      {pair.map(
        ({ capture, captureAbsence }, index) =>
          !capture && (
            <p key={heads[index]} className={classes.note}>
              {messages.labelled(heads[index] ?? '', captureAbsences[captureAbsence ?? 'unknown'])}
            </p>
          ),
      )}
      {parts.map(([part, title]) => {
        const [one = null, other = null] = texts.map((each) => each?.[part] ?? null);
        if (one === null && other === null) return null;
        return (
          <Part key={part} title={title}>
            <ComparedTexts
              first={cut(one)}
              second={cut(other)}
              heads={heads}
              isFolded
              areAnswers={part === 'answer' && haveAnswers}
            />
            {[one, other].some((text) => (text?.length ?? 0) > mostCompared) && (
              <p className={classes.note}>{names.cut(formats.number(mostCompared))}</p>
            )}
          </Part>
        );
      })}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.part}>
      <h3 className={classes.title}>{title}</h3>
      {children}
    </section>
  );
}

/** What is compared of a captured request, each part null if it was not kept; null if nothing was. */
function textsOf({ capture }: RequestInFull) {
  if (!capture) return null;
  const { request, response } = capture;
  const said = saidTextOf(contentOf(response));
  return {
    request: bodyText(request),
    answer: said ?? bodyText(response),
    /** It is what a model said. */
    isAnswer: said !== null,
    requestHeaders: headersText(request.headers),
    responseHeaders: headersText(response.headers),
  };
}

/** JSON with a line for each member, whatever the client's layout. Null for what is no text. */
function bodyText(message: CapturedMessage<CapturedBody>): string | null {
  const content = contentOf(message);
  if (!content || !('text' in content)) return null;
  if (content.kind !== 'json') return content.text;
  return formatJson(content.text, { longestString: Number.POSITIVE_INFINITY, describeRest: String }).text;
}

function headersText(headers: HeaderList | null): string | null {
  const lines = headers?.map(([name, value]) => `${name.toLowerCase()}: ${value}`).sort();
  return lines?.join('\n') ?? null;
}

const cut = (text: string | null) => text?.slice(0, mostCompared) ?? null;

/** How many requests are selected, and what can be done with them. */
export function PickBar() {
  const { messages, formats } = useLocalization();
  const { picks: names } = messages.requests;
  const { ids } = usePicked();
  return (
    <div className={listClasses.picks}>
      <span>{names.selected(ids.length, formats.number(ids.length))}</span>
      {ids.length > 1 && (
        <Button size="compact-xs" onClick={() => comparePicked()}>
          {names.compare}
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={clearPicks}>
        {names.clear}
      </Button>
    </div>
  );
}
