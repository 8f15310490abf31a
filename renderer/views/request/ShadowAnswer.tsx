import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { RequestInFull, RequestView } from '../../../server/contract/request-views.ts';
import { CommandProblem } from '../../components/CommandProblem.tsx';
import { FigureTable } from '../../components/FigureTable.tsx';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useQuery } from '../../state/use-query.ts';
import { contentOf } from './body/body-content.ts';
import { answerTextOf } from './send-again/answer-text.ts';
import { ComparedTexts } from './send-again/ComparedTexts.tsx';
import classes from './send-again/SendAgain.module.css';

interface ShadowAnswerProps {
  full: RequestInFull;
  shadow: RequestView;
}

/** The shadow target's answer beside the one that the client received. */
export function ShadowAnswer({ full, shadow }: ShadowAnswerProps) {
  const { shadows: names } = useMessages();
  const [isOpen, setIsOpen] = useState(false);
  const isAnswered = shadow.outcome === 'ok';
  return (
    <div className={classes.comparison}>
      <Figures request={full.request} shadow={shadow} />
      <p className={classes.soft}>{verdictOf(shadow, names)}</p>
      {isOpen && isAnswered && <Answers full={full} shadowId={shadow.id} />}
      <div className={classes.acts}>
        {!isOpen && isAnswered && full.capture && (
          <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
            {names.compare}
          </Button>
        )}
        <Link href={`/requests/${shadow.id}`}>{names.open}</Link>
      </div>
    </div>
  );
}

type Verdicts = Record<'running' | 'failed' | 'notKept' | 'same' | 'different', string>;

function verdictOf({ outcome, sameAnswer }: RequestView, names: Verdicts): string {
  if (outcome === null) return names.running;
  if (outcome !== 'ok') return names.failed;
  if (sameAnswer === null) return names.notKept;
  return sameAnswer ? names.same : names.different;
}

function Figures({ request, shadow }: { request: RequestView; shadow: RequestView }) {
  const { messages, formats } = useLocalization();
  const { inspector, requests, shadows: names } = messages;
  const rows: [name: string, read: (each: RequestView) => string | null][] = [
    [inspector.model, ({ modelServed, modelAsked }) => modelServed ?? modelAsked],
    [requests.cost, ({ costUsd }) => (costUsd === null ? requests.costUnknown : formats.dollars(costUsd))],
    [inspector.firstByte, ({ firstByteMs }) => (firstByteMs === null ? null : formats.duration(firstByteMs))],
    [inspector.duration, ({ totalMs }) => (totalMs === null ? null : formats.duration(totalMs))],
    [
      names.outputTokens,
      ({ usage }) => (usage?.outputTokens === undefined ? null : formats.number(usage.outputTokens)),
    ],
    [names.length, ({ bytesOut }) => formats.bytes(bytesOut)],
  ];
  return (
    <FigureTable
      heads={[names.client, names.shadow]}
      rows={rows.map(([name, read]) => ({ name, values: [read(request), read(shadow)] }))}
    />
  );
}

function Answers({ full, shadowId }: { full: RequestInFull; shadowId: string }) {
  const { shadows: names } = useMessages();
  const { answer, problem } = useQuery<'request'>({ type: 'request', id: shadowId });
  const [first, second] = useMemo(() => [textOf(full), answer && textOf(answer)], [full, answer]);
  if (problem) return <CommandProblem problem={problem} />;
  if (!answer) return null;
  if (second === null) return <p className={classes.soft}>{names.notKept}</p>;
  return <ComparedTexts first={first} second={second} heads={[names.client, names.shadow]} />;
}

/** Null if there is nothing to compare. */
function textOf({ capture }: RequestInFull): string | null {
  const text = capture && answerTextOf(contentOf(capture.response));
  return text && formatted(text);
}

/** Formats JSON with one member per line, so that a diff of two answers compares their values. */
function formatted(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
