import { useMemo } from 'react';
import { Link } from 'wouter';
import { originOf } from '../../../../server/contract/address.ts';
import { contentOf } from '../../../../server/contract/conversation/body-content.ts';
import { BodyView } from '../../../components/body/BodyView.tsx';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import type { Exchange } from '../../../state/calls/exchange.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import classes from '../Playground.module.css';
import { AnswerFacts } from './AnswerFacts.tsx';
import { codeLanguages, codeOf } from './request-code.ts';

type ExchangePart = 'request' | 'reply';

export function isExchangePart(view: string): view is ExchangePart {
  return view === 'request' || view === 'reply';
}

/** What was sent, without the key, or received, as the inspector of requests shows it. */
export function ExchangeView({ exchange, part }: { exchange: Exchange | null; part: ExchangePart }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  if (!exchange) return <p className={classes.empty}>{names.rawEmpty}</p>;
  const facts = [
    exchange.status === null ? names.waiting : String(exchange.status),
    exchange.headersMs !== null && names.firstByte(formats.duration(exchange.headersMs)),
    exchange.totalMs !== null && names.total(formats.duration(exchange.totalMs)),
  ];
  return (
    <>
      <p className={classes.line}>
        {part === 'request' ? (
          <code>
            {exchange.method} {exchange.path}
          </code>
        ) : (
          facts.filter(Boolean).join(' · ')
        )}
        {exchange.requestId && (
          <Link href={`/requests/${exchange.requestId}`} title={names.toRequest}>
            {exchange.requestId}
          </Link>
        )}
      </p>
      {part === 'request' ? <CodeCopies exchange={exchange} /> : <AnswerFacts requestId={exchange.requestId} />}
      {part === 'request' ? (
        <Body text={exchange.requestText} what={names.rawRequest} isWhole />
      ) : (
        <Body text={exchange.replyText} what={names.rawReply} isWhole={!exchange.isRunning} />
      )}
    </>
  );
}

interface BodyProps {
  text: string;
  what: string;
  /** Until then the text is shown as it arrives. */
  isWhole: boolean;
}

function Body({ text, what, isWhole }: BodyProps) {
  const content = useMemo(
    () => (isWhole ? contentOf({ headers: null, body: { encoding: 'utf8', data: text } }) : null),
    [text, isWhole],
  );
  if (content) return <BodyView content={content} title={what} bytes={null} />;
  return text === '' ? null : <pre className={classes.arriving}>{text}</pre>;
}

/** The same request as a shell command or program. */
function CodeCopies({ exchange }: { exchange: Exchange }) {
  const { playground: names } = useMessages();
  const origin = useControlState(({ views }) => (views ? originOf(views.status) : location.origin));
  const codes = codeLanguages.map((language) => ({ language, code: codeOf(exchange, origin, language) }));
  if (codes.some(({ code }) => code === null)) return null;
  return (
    <div className={classes.codes}>
      <span>{names.copyAs}</span>
      {codes.map(({ language, code }) => (
        <span key={language} className={classes.code}>
          {names.codes[language]}
          <CopyButton value={code ?? ''} label={names.codes[language]} />
        </span>
      ))}
    </div>
  );
}
