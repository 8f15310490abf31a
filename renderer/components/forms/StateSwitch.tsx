import { Switch } from '@mantine/core';
import { useCanChange } from '../../state/rights/use-rights.ts';
import classes from './StateSwitch.module.css';

interface StateSwitchProps {
  /** The statement that is true when the switch is on. */
  label: string;
  isOn: boolean;
  /** A change was sent, but does not show yet. */
  isBusy: boolean;
  /** The setting is locked, which a mark beside it explains, or the person may not change it. */
  isLocked?: boolean;
  onChange(isOn: boolean): void;
}

/**
 * Shows a state of the engine as on or off, and requests a change. If no change is possible now, it keeps its
 * appearance and the focus, which a disabled switch would not.
 */
export function StateSwitch({ label, isOn, isBusy, isLocked = false, onChange }: StateSwitchProps) {
  const canChange = useCanChange() && !isLocked;
  const isFixed = !canChange || isBusy;
  return (
    <Switch
      className={isBusy ? classes.busy : canChange ? undefined : classes.fixed}
      aria-label={label}
      aria-disabled={isFixed}
      aria-busy={isBusy}
      checked={isOn}
      onChange={(event) => {
        if (!isFixed) onChange(event.currentTarget.checked);
      }}
    />
  );
}
