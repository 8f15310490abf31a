import type { LossNote } from '../../../../server/contract/loss-codes.ts';
import type { RequestView } from '../../../../server/contract/request-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from '../detail/RequestPanel.module.css';

/** What the translation to the provider's API dropped or emulated. */
export function Losses({ request: { dropped, emulated } }: { request: RequestView }) {
  const { losses } = useLocalization().messages.requests;
  return (
    <>
      <Notes title={losses.dropped} notes={dropped} />
      <Notes title={losses.emulated} notes={emulated} />
    </>
  );
}

function Notes({ title, notes }: { title: string; notes: readonly LossNote[] }) {
  const { messages, formats } = useLocalization();
  const { losses } = messages.requests;
  if (notes.length === 0) return null;
  return (
    <>
      <p className={classes.note}>{title}</p>
      <ul className={classes.losses}>
        {notes.map(({ code, field, times }) => (
          <li key={`${code} ${field}`}>
            <span className={classes.mono}>{field}</span>
            {times > 1 && <span className={classes.mark}>{losses.times(formats.number(times))}</span>}
            <span className={classes.reason}>{losses.reasons[code]}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
