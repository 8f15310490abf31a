import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useProviderName } from '../../../state/providers/providers.ts';
import classes from './Timeline.module.css';
import { lanesOf, longestGapOf, phasesOf, ticksOf } from './timeline.ts';

/** A label further to the right, as a share of the axis, would run over its end. */
const lastLabel = 0.9;

type Lane = ReturnType<typeof lanesOf>[number];

/** The attempts as lanes below an axis, with the events of their streams; below them the same in words and figures. */
export function Timeline({ full: { request, capture } }: { full: RequestInFull }) {
  const { messages, formats } = useLocalization();
  const { phases: names, longestGap, total, stillRunning, flow } = messages.requests;
  const gapMs = longestGapOf(request);
  const phases = phasesOf(request);
  const lanes = lanesOf(request, capture);
  const wholeMs = Math.max(request.totalMs ?? 0, ...phases.map(({ toMs }) => toMs), 0.001);
  const isFlowKnown = lanes.some((lane) => lane.flow !== null);
  const rows: [name: string, value: string, swatch?: string | undefined][] = [
    ...phases.map(({ name, attempt, fromMs, toMs }): [string, string, string | undefined] => [
      attempt === null ? names[name] : `${formats.number(attempt)} · ${names[name]}`,
      formats.duration(toMs - fromMs),
      classes[name],
    ]),
    ...lanes.flatMap((lane) => flowRows(lane)),
    ...(gapMs === null ? [] : [[longestGap, formats.duration(gapMs)] as [string, string]]),
    [total, request.totalMs === null ? stillRunning : formats.duration(request.totalMs)],
  ];
  function flowRows(lane: Lane): [string, string][] {
    if (!lane.flow) return [];
    const counts = lane.flow.steps.map(({ events }) => events);
    const label = lane.attempt === null ? flow.events : `${formats.number(lane.attempt)} · ${flow.events}`;
    const sum = counts.reduce((all, count) => all + count, 0);
    const most = flow.most(formats.number(Math.max(...counts)), formats.duration(lane.flow.stepMs));
    const gaps = lane.flow.gaps.map(({ fromMs, toMs }) =>
      flow.gap(formats.duration(toMs - fromMs), formats.duration(fromMs)),
    );
    return [[label, [formats.number(sum), most, ...gaps].join(' · ')]];
  }
  return (
    <>
      <div className={classes.lanes} aria-hidden>
        <div className={classes.lane}>
          <span />
          <div className={classes.axis}>
            {ticksOf(wholeMs).map((tick) => (
              <span key={tick} className={classes.tick} style={{ left: `${(tick / wholeMs) * 100}%` }}>
                {tick / wholeMs <= lastLabel && formats.duration(tick)}
              </span>
            ))}
          </div>
        </div>
        {lanes.map((lane) => (
          <LaneRow key={`${lane.attempt} ${lane.provider}`} lane={lane} wholeMs={wholeMs} />
        ))}
      </div>
      <dl className={classes.timeline}>
        {rows.map(([name, value, swatch]) => (
          <div key={name} className={classes.phase}>
            <dt>
              <span className={`${classes.swatch} ${swatch ?? ''}`} aria-hidden />
              {name}
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {request.stream && <p className={classes.note}>{isFlowKnown ? flow.notTokens : flow.unknown}</p>}
    </>
  );
}

function LaneRow({ lane, wholeMs }: { lane: Lane; wholeMs: number }) {
  const { messages, formats } = useLocalization();
  const { phases: names, flow: flowNames } = messages.requests;
  const providerName = useProviderName();
  const { attempt, provider, phases, firstContentMs, flow } = lane;
  const at = (ms: number) => `${Math.min(100, (ms / wholeMs) * 100)}%`;
  const name = provider === null ? names.queue : providerName(provider);
  const most = Math.max(1, ...(flow?.steps.map(({ events }) => events) ?? []));
  return (
    <div className={classes.lane}>
      <span className={classes.laneName} title={name}>
        {attempt === null ? name : `${formats.number(attempt)} · ${name}`}
      </span>
      <div className={classes.laneTracks}>
        <div className={classes.track}>
          {phases.map((phase) => (
            <span
              key={phase.name}
              className={`${classes.bar} ${classes[phase.name] ?? ''}`}
              style={{ left: at(phase.fromMs), width: at(phase.toMs - phase.fromMs) }}
              title={`${names[phase.name]}: ${formats.duration(phase.toMs - phase.fromMs)}`}
            />
          ))}
          {firstContentMs !== null && (
            <span className={classes.firstContent} style={{ left: at(firstContentMs) }} title={names.content} />
          )}
        </div>
        {flow && (
          <div className={classes.flow}>
            {flow.gaps.map(({ fromMs, toMs }) => (
              <span
                key={fromMs}
                className={classes.gap}
                style={{ left: at(fromMs), width: at(toMs - fromMs) }}
                title={flowNames.gap(formats.duration(toMs - fromMs), formats.duration(fromMs))}
              />
            ))}
            {flow.steps.map(
              ({ fromMs, events }) =>
                events > 0 && (
                  <span
                    key={fromMs}
                    className={classes.step}
                    style={{ left: at(fromMs), width: at(flow.stepMs), height: `${(events / most) * 100}%` }}
                  />
                ),
            )}
          </div>
        )}
      </div>
    </div>
  );
}
