import { Button, NativeSelect, NumberInput, SimpleGrid, Switch, TagsInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useSearch } from 'wouter';
import type { Budget, Limits } from '../../../server/contract/limit-settings.ts';
import { noticePercents } from '../../../server/contract/limits.ts';
import { useLocalization, useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import { IconAction } from '../buttons/IconAction.tsx';
import classes from './AccessFields.module.css';
import { budgetPeriods, budgetUnits, newBudget, type RateName, rateNames } from './limit-draft.ts';

interface LimitFieldsProps {
  limits: Limits | undefined;
  /** The periods of budgets; absent: all. */
  periods?: readonly Budget['per'][];
  onChange(limits: Limits): void;
}

const none: Limits = { budgets: [] };
const mostBudgets = 16;
const mostPercents = 8;

/** Limits of a key, group or person. */
export function LimitFields({ limits = none, periods = budgetPeriods, onChange }: LimitFieldsProps) {
  const { limits: names } = useMessages();
  const { budgets } = limits;
  // Budgets have no names, only positions.
  const numbered = budgets.map((budget, index) => ({ budget, number: index + 1 }));
  const askedPosition = useAskedBudget(budgets);
  const setBudgets = (next: Budget[]) => onChange({ ...limits, budgets: next });
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        {rateNames.map((name) => (
          <RateField key={name} name={name} limits={limits} onChange={onChange} />
        ))}
      </SimpleGrid>
      {numbered.length > 0 && <p className={classes.budgets}>{names.budgets}</p>}
      {numbered.map(({ budget, number }) => (
        <BudgetRow
          key={number}
          number={number}
          budget={budget}
          periods={periods}
          isAsked={number === askedPosition}
          onChange={(changed) => setBudgets(budgets.with(number - 1, changed))}
          onRemove={() => setBudgets(budgets.toSpliced(number - 1, 1))}
        />
      ))}
      <Button
        variant="subtle"
        size="xs"
        className={classes.start}
        leftSection={<IconPlus size={14} />}
        disabled={budgets.length === mostBudgets}
        onClick={() => setBudgets([...budgets, newBudget])}
      >
        {names.addBudget}
      </Button>
    </>
  );
}

function RateField({ name, limits, onChange }: { name: RateName; limits: Limits; onChange(limits: Limits): void }) {
  const { limits: names } = useMessages();
  return (
    <NumberInput
      label={names[name]}
      placeholder={names.noLimit}
      min={1}
      allowDecimal={false}
      allowNegative={false}
      thousandSeparator
      hideControls
      value={limits[name] ?? ''}
      onChange={(value) => onChange({ ...limits, [name]: Number(value) || undefined })}
    />
  );
}

/**
 * The position, from 1, of the budget that the address asks for: `?budget=usd-day`, as a notification of the desktop does.
 * Null if it asks for none.
 */
function useAskedBudget(budgets: readonly Budget[]): number | null {
  const asked = new URLSearchParams(useSearch()).get('budget');
  const index = budgets.findIndex(({ unit, per }) => `${unit}-${per}` === asked);
  return index === -1 ? null : index + 1;
}

interface BudgetRowProps {
  /** Position in the list, from 1. */
  number: number;
  budget: Budget;
  /** The address asks for this budget, so its amount has the focus. */
  isAsked: boolean;
  periods: readonly Budget['per'][];
  onChange(budget: Budget): void;
  onRemove(): void;
}

function BudgetRow({ number, budget, isAsked, periods, onChange, onRemove }: BudgetRowProps) {
  const { limits: names } = useMessages();
  const amount = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!isAsked) return;
    // After the screen that has just been opened has taken the focus.
    const frame = requestAnimationFrame(() => amount.current?.select());
    return () => cancelAnimationFrame(frame);
  }, [isAsked]);
  return (
    <div className={classes.budget}>
      <NumberInput
        aria-label={names.amount(number)}
        ref={amount}
        data-autofocus={isAsked || undefined}
        placeholder="0"
        min={0}
        required
        allowNegative={false}
        thousandSeparator
        hideControls
        value={budget.amount || ''}
        onChange={(value) => onChange({ ...budget, amount: Number(value) || 0 })}
      />
      <Choice
        label={names.unit(number)}
        value={budget.unit}
        values={budgetUnits}
        texts={names.units}
        onChange={(unit) => onChange({ ...budget, unit })}
      />
      <Choice
        label={names.per(number)}
        value={budget.per}
        values={periods}
        texts={names.periods}
        onChange={(per) => onChange({ ...budget, per })}
      />
      <Choice
        label={names.hardness(number)}
        value={budget.hard ? 'hard' : 'soft'}
        values={['hard', 'soft'] as const}
        texts={names}
        onChange={(hardness) => onChange({ ...budget, hard: hardness === 'hard' })}
      />
      <TagsInput
        className={classes.notifyAt}
        aria-label={names.notifyAt(number)}
        placeholder={names.notifyAtText}
        maxTags={mostPercents}
        value={noticePercents(budget).map(String)}
        onChange={(texts) => onChange({ ...budget, notifyAt: percentsIn(texts) })}
      />
      <IconAction label={names.removeBudget(number)} icon={<IconTrash size={18} />} onClick={onRemove} />
    </div>
  );
}

/** What is no percentage is not taken. */
function percentsIn(texts: readonly string[]): number[] {
  return texts
    .map((text) => Number(text.replace(/\s*%$/, '')))
    .filter((percent) => Number.isInteger(percent) && percent >= 1 && percent <= 100);
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  values: readonly Value[];
  texts: Record<Value, string>;
  onChange(value: Value): void;
}

function Choice<Value extends string>({ label, value, values, texts, onChange }: ChoiceProps<Value>) {
  return (
    <NativeSelect
      aria-label={label}
      value={value}
      data={values.map((each) => ({ value: each, label: texts[each] }))}
      onChange={(event) => {
        const chosen = values.find((each) => each === event.currentTarget.value);
        if (chosen !== undefined) onChange(chosen);
      }}
    />
  );
}

interface CaptureSwitchProps {
  label: string;
  isOn: boolean;
  onChange(isOn: boolean): void;
}

/** Capture setting of a key or group: whether headers and bodies are kept, how much of them, and for how long. */
export function CaptureSwitch({ label, isOn, onChange }: CaptureSwitchProps) {
  const { messages, formats } = useLocalization();
  const limits = useControlState((state) => state.views?.status.settings.capture ?? null);
  const size = formats.number(Math.round((limits?.maxBytes ?? 0) / 1024));
  return (
    <Switch
      label={label}
      description={messages.requests.captureHint(size, formats.number(limits?.retentionDays ?? 0))}
      checked={isOn}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
