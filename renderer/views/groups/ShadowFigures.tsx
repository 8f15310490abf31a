import type { ShadowSide, ShadowSummary } from '../../../server/contract/shadow.ts';
import { FigureTable } from '../../components/FigureTable.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './Groups.module.css';

/** Time and cost of the shadow requests to a model, compared with the original requests. */
export function ShadowFigures({ summary }: { summary: ShadowSummary }) {
  const { messages, formats } = useLocalization();
  const { inspector, requests: requestNames, shadows: names } = messages;
  const { provider, model, requests, compared, equal, costUsd, original, shadow } = summary;
  const rows: [name: string, side: keyof ShadowSide, show: (value: number) => string][] = [
    [requestNames.cost, 'costUsd', formats.dollars],
    [inspector.firstByte, 'firstByteMs', formats.duration],
    [inspector.duration, 'totalMs', formats.duration],
    [names.outputTokens, 'outputTokens', (value) => formats.number(Math.round(value))],
  ];
  const facts = [
    names.requests(requests, formats.number(requests)),
    ...(compared > 0 ? [names.equal(formats.number(equal), formats.number(compared))] : []),
    names.spent(formats.dollars(costUsd)),
  ];
  return (
    <>
      <FigureTable
        heads={[names.ofClients, `${provider}/${model}`]}
        rows={rows.map(([name, side, show]) => ({
          name: names.mean(name),
          values: [original[side], shadow[side]].map((value) => value !== null && show(value)),
        }))}
      />
      <p className={classes.soft}>{facts.join(' · ')}</p>
    </>
  );
}
