import { Switch } from '@mantine/core';
import { useCanChange } from '../state/use-can-change.ts';
import classes from './StateSwitch.module.css';

interface StateSwitchProps {
  /** What is true when it is on. */
  label: string;
  isOn: boolean;
  /** A change was sent and does not show yet. */
  isBusy: boolean;
  /** Somebody has fixed it, which is said beside it; or the person may not change it. */
  isLocked?: boolean;
  onChange(wanted: boolean): void;
}

/**
 * Shows something of the engine's as on or off, and asks for the other. Where that is impossible now it stays a switch that
 * shows its state and keeps the focus, which a disabled one would not.
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
