import type { RequestView } from '../../../server/contract/views.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import classes from './Timeline.module.css';
import { phasesOf } from './timeline.ts';

/** Where the time went, a bar a phase. */
export function Timeline({ request }: { request: RequestView }) {
  const { messages, formats } = useLocalization();
  const { phases: names, total, stillRunning } = messages.requests;
  const phases = phasesOf(request);
  const wholeMs = Math.max(request.totalMs ?? 0, ...phases.map(({ toMs }) => toMs), 0.001);
  return (
    <dl className={classes.timeline}>
      {phases.map(({ name, fromMs, toMs }) => (
        <div key={`${name} ${fromMs}`} className={classes.phase}>
          <dt>{names[name]}</dt>
          <dd className={classes.track} aria-hidden>
            <span
              className={`${classes.bar} ${classes[name] ?? ''}`}
              style={{ left: `${(fromMs / wholeMs) * 100}%`, width: `${((toMs - fromMs) / wholeMs) * 100}%` }}
            />
          </dd>
          <dd className={classes.time}>{formats.duration(toMs - fromMs)}</dd>
        </div>
      ))}
      <div className={classes.phase}>
        <dt>{total}</dt>
        <dd className={classes.track} aria-hidden />
        <dd className={classes.time}>{request.totalMs === null ? stillRunning : formats.duration(request.totalMs)}</dd>
      </div>
    </dl>
  );
}
