import { Fragment } from 'react';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { type Localization, useLocalization } from '../../../messages/use-messages.ts';
import { outputRateOf } from '../../../state/requests/output-rate.ts';
import classes from '../detail/RequestPanel.module.css';
import { unknown, usageInRow } from '../list/usage-in-row.ts';

interface RequestGistProps {
  request: RequestView;
  /** Shows what the translation left out or changed. */
  onLosses(): void;
}

/** What matters most of any request, in sight whatever tab is open. */
export function RequestGist({ request, onLosses }: RequestGistProps) {
  const localization = useLocalization();
  const { messages, formats } = localization;
  const facts = gistOf(request, localization);
  const losses = request.dropped.length + request.emulated.length;
  if (facts.length + losses === 0) return null;
  return (
    <p className={classes.gist}>
      {facts.map((fact, index) => (
        <Fragment key={fact}>
          {index > 0 && ' · '}
          <span className={classes.gistFact}>{fact}</span>
        </Fragment>
      ))}
      {losses > 0 && (
        <button type="button" className={classes.lossCount} onClick={onLosses}>
          {messages.inspector.gist.losses(formats.number(losses))}
        </button>
      )}
    </p>
  );
}

/** What a request cost, what went in and came out, and how fast. Only what is known; empty while nothing is. Figures that the provider did not report have `≈` before them. */
export function gistOf(request: RequestView, localization: Localization): string[] {
  const { messages, formats } = localization;
  const { gist: names } = messages.inspector;
  const { inputTokens, cachedInputTokens = 0, outputTokens } = request.usage ?? {};
  const { cost, certainty } = usageInRow(request, localization);
  const about = certainty === undefined ? '' : '≈';
  const rate = outputRateOf(request);
  const { stream, firstByteMs, totalMs } = request;
  const share = inputTokens ? cachedInputTokens / inputTokens : 0;
  const cached = share > 0 ? ` (${names.cached(formats.percent(Math.round(share * 100) / 100))})` : '';
  return [
    cost !== unknown && cost,
    inputTokens !== undefined && `${about}${names.input(formats.compact(inputTokens))}${cached}`,
    outputTokens !== undefined && `${about}${names.output(formats.compact(outputTokens))}`,
    rate !== null && names.rate(formats.number(Math.round(rate))),
    stream && firstByteMs !== null && names.first(formats.duration(firstByteMs)),
    totalMs !== null && formats.duration(totalMs),
  ].filter((each) => typeof each === 'string');
}
