import { Link } from 'wouter';
import { originOf } from '../../../../server/contract/address.ts';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import type { Exchange } from '../../../state/calls/exchange.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import classes from '../Playground.module.css';
import { AnswerFacts } from './AnswerFacts.tsx';
import { codeLanguages, codeOf } from './request-code.ts';

/** The raw request and response, without the key. */
export function RawExchange({ exchange }: { exchange: Exchange | null }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const facts = exchange && [
    exchange.status === null ? names.waiting : String(exchange.status),
    exchange.headersMs !== null && names.firstByte(formats.duration(exchange.headersMs)),
    exchange.totalMs !== null && names.total(formats.duration(exchange.totalMs)),
  ];
  return (
    <Section title={names.raw}>
      {exchange ? (
        <div className={classes.raw}>
          <p className={classes.line}>
            <code>
              {exchange.method} {exchange.path}
            </code>
          </p>
          {exchange.requestText && <RawText text={exchange.requestText} what={names.rawRequest} />}
          <p className={classes.line}>{facts?.filter(Boolean).join(' · ')}</p>
          {exchange.requestId && (
            <p className={classes.line}>
              <Link href={`/requests/${exchange.requestId}`} title={names.toRequest}>
                {exchange.requestId}
              </Link>
            </p>
          )}
          <AnswerFacts requestId={exchange.requestId} />
          <CodeCopies exchange={exchange} />
          {exchange.replyText && <RawText text={exchange.replyText} what={names.rawReply} />}
        </div>
      ) : (
        <p className={`${classes.raw} ${classes.soft}`}>{names.rawEmpty}</p>
      )}
    </Section>
  );
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

function RawText({ text, what }: { text: string; what: string }) {
  return (
    <div>
      <div className={classes.rawHead}>
        <span>{what}</span>
        <CopyButton value={text} label={what} />
      </div>
      <textarea className={classes.rawText} readOnly value={text} aria-label={what} rows={rowsFor(text)} />
    </div>
  );
}

const mostRows = 16;

function rowsFor(text: string): number {
  return Math.min(mostRows, Math.max(3, text.split('\n').length, Math.ceil(text.length / 60)));
}
