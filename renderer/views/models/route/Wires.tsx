import type { WireWay } from '../../../../server/contract/access-views.ts';
import type { LossNote } from '../../../../server/contract/loss-codes.ts';
import { wireLabels } from '../../../../server/contract/operations.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Models.module.css';

/** The clients that are served without translation, and what the others lose in translation. */
export function Wires({ ways }: { ways: readonly WireWay[] }) {
  const { models: names } = useMessages();
  const untranslated = ways.filter(({ client, upstream }) => client === upstream);
  const translated = ways.filter(({ client, upstream }) => client !== upstream);
  return (
    <>
      {untranslated.length > 0 && (
        <span className={classes.reason}>
          {names.asTheyAre(untranslated.map(({ client }) => wireLabels[client]).join(', '))}
        </span>
      )}
      {translated.map((way) => (
        <Translated key={way.client} way={way} />
      ))}
    </>
  );
}

function Translated({ way: { client, upstream, dropped, emulated } }: { way: WireWay }) {
  const { models: names } = useMessages();
  return (
    <details className={classes.wire}>
      <summary>{names.translated(wireLabels[client], wireLabels[upstream])}</summary>
      {dropped.length > 0 && <p>{names.wouldDrop(fieldsOf(dropped))}</p>}
      {emulated.length > 0 && <p>{names.wouldEmulate(fieldsOf(emulated))}</p>}
      <p>{names.otherLosses}</p>
    </details>
  );
}

function fieldsOf(notes: readonly LossNote[]): string {
  return notes.map(({ field }) => field).join(', ');
}
