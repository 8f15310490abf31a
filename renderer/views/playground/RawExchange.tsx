import { Link } from 'wouter';
import { CopyButton } from '../../components/CopyButton.tsx';
import { Section } from '../../components/Section.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import type { Exchange } from './exchange.ts';
import classes from './Playground.module.css';

/** What really went over the wire; the key stays out. */
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
          {exchange.replyText && <RawText text={exchange.replyText} what={names.rawReply} />}
        </div>
      ) : (
        <p className={`${classes.raw} ${classes.soft}`}>{names.rawEmpty}</p>
      )}
    </Section>
  );
}

function RawText({ text, what }: { text: string; what: string }) {
  return (
    <div>
      <div className={classes.rawHead}>
        <span>{what}</span>
        <CopyButton value={text} what={what} />
      </div>
      <textarea className={classes.rawText} readOnly value={text} aria-label={what} rows={rowsFor(text)} />
    </div>
  );
}

const mostRows = 16;

function rowsFor(text: string): number {
  return Math.min(mostRows, Math.max(3, text.split('\n').length, Math.ceil(text.length / 60)));
}
