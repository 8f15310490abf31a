import { Button } from '@mantine/core';
import { IconBolt, IconPlayerStop } from '@tabler/icons-react';
import type { TimedFaultsView } from '../../../server/contract/faults.ts';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { useLocalization } from '../../messages/use-messages.ts';
import { useCommand } from '../../state/control/use-command.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { useNameOf } from '../../state/control/use-found.ts';
import { useMayStop } from '../../state/rights/use-rights.ts';
import classes from './FaultBanner.module.css';

const none: readonly TimedFaultsView[] = [];

/** Shown on every screen while faults are injected, so that they are not taken for real failures. */
export function FaultBanner() {
  const running = useControlState((state) => state.views?.status.faults ?? none);
  return running.map((each) => <RunningFaults key={`${each.kind} ${each.id}`} running={each} />);
}

function RunningFaults({ running }: { running: TimedFaultsView }) {
  const { kind, id, profile, rules, untilMs } = running;
  const { messages, formats } = useLocalization();
  const names = messages.faults;
  const { run, isRunning, problem } = useCommand();
  const mayStop = useMayStop(running);
  const subject = names[kind](useNameOf(kind, id) ?? id);
  const rulesText = profile === null ? rules.join(', ') : names.profile(profile);
  return (
    <div className={classes.banner} role="status">
      <IconBolt className={classes.icon} size={20} aria-hidden />
      <p className={classes.text}>
        <strong>{names.on}</strong> {names.running(rulesText, subject, formats.clock(untilMs))} {names.why}
      </p>
      {mayStop && (
        <Button
          size="xs"
          variant="white"
          color="dark"
          loading={isRunning}
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          aria-label={names.stopOf(subject)}
          onClick={() => void run({ type: 'faults.stop', [kind]: id })}
        >
          {names.stop}
        </Button>
      )}
      {problem && <CommandProblem problem={problem} />}
    </div>
  );
}
