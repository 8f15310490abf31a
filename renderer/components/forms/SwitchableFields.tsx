import { Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Lock } from '../../../server/contract/lock.ts';
import { CollapsibleFields } from './CollapsibleFields.tsx';

interface SwitchableFieldsProps {
  title: string;
  /** The current settings, or that the part is off, in a few words. */
  summary: string;
  isOn: boolean;
  /** Label of the switch. */
  label: string;
  hint: string;
  /** Null if the settings in it are not locked. */
  lock: Lock | null;
  onSwitch(isOn: boolean): void;
  /** The settings that apply when it is on. */
  children: ReactNode;
}

/** A folded part of a form that starts with a switch for the whole part. */
export function SwitchableFields({ isOn, label, hint, onSwitch, children, ...part }: SwitchableFieldsProps) {
  return (
    <CollapsibleFields {...part} isSet={isOn}>
      <Switch
        label={label}
        description={hint}
        checked={isOn}
        onChange={(event) => onSwitch(event.currentTarget.checked)}
      />
      {children}
    </CollapsibleFields>
  );
}
