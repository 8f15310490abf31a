import { Fragment } from 'react';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from '../detail/RequestPanel.module.css';
import { gistOf } from './request-gist.ts';

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
