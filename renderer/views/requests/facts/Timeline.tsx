import type { RequestView } from '../../../../server/contract/request-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import classes from './Timeline.module.css';
import { longestGapOf, phasesOf, ticksOf } from './timeline.ts';

/** A label further to the right, as a share of the axis, would run into the durations. */
const lastLabel = 0.88;

/** The time spent in each phase, as bars below an axis. */
export function Timeline({ request }: { request: RequestView }) {
  const { messages, formats } = useLocalization();
  const { phases: names, longestGap, total, stillRunning } = messages.requests;
  const gapMs = longestGapOf(request);
  const phases = phasesOf(request);
  const wholeMs = Math.max(request.totalMs ?? 0, ...phases.map(({ toMs }) => toMs), 0.001);
  return (
    <dl className={classes.timeline}>
      <div className={classes.phase} aria-hidden>
        <dt />
        <dd className={classes.axis}>
          {ticksOf(wholeMs).map((tick) => (
            <span key={tick} className={classes.tick} style={{ left: `${(tick / wholeMs) * 100}%` }}>
              {tick / wholeMs <= lastLabel && formats.duration(tick)}
            </span>
          ))}
        </dd>
        <dd />
      </div>
      {phases.map(({ name, attempt, fromMs, toMs }) => (
        <div key={`${attempt} ${name}`} className={classes.phase}>
          <dt>{attempt === null ? names[name] : `${attempt} · ${names[name]}`}</dt>
          <dd className={classes.track} aria-hidden>
            <span
              className={`${classes.bar} ${classes[name] ?? ''}`}
              style={{ left: `${(fromMs / wholeMs) * 100}%`, width: `${((toMs - fromMs) / wholeMs) * 100}%` }}
            />
          </dd>
          <dd className={classes.time}>{formats.duration(toMs - fromMs)}</dd>
        </div>
      ))}
      {gapMs !== null && (
        <div className={classes.phase}>
          <dt>{longestGap}</dt>
          <dd className={classes.track} aria-hidden />
          <dd className={classes.time}>{formats.duration(gapMs)}</dd>
        </div>
      )}
      <div className={classes.phase}>
        <dt>{total}</dt>
        <dd className={classes.track} aria-hidden />
        <dd className={classes.time}>{request.totalMs === null ? stillRunning : formats.duration(request.totalMs)}</dd>
      </div>
    </dl>
  );
}
