import { Button, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import {
  type PriceAmounts,
  type PriceChange,
  type PriceRenewalView,
  priceFieldNames,
  priceRenewalModes,
} from '../../../../server/contract/price-views.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { LockMark } from '../../../components/locks/Lockable.tsx';
import { nothing } from '../../../messages/formats.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import { useNow } from '../../../state/window/use-now.ts';
import { settingRow } from '../fields/setting-row.tsx';
import classes from './Prices.module.css';
import { describeAmounts } from './prices.ts';

interface RenewalProps {
  renewal: PriceRenewalView;
  /** Prices, or what waits, may have changed. */
  onChanged(): void;
}

/** Whether list prices are renewed from the public table, what it would change, and the click that applies it. */
export function Renewal({ renewal, onChanged }: RenewalProps) {
  const { messages, formats } = useLocalization();
  const { renewal: names } = messages.prices;
  const { mode, failure, checkedAt, waiting } = renewal;
  const [applied, setApplied] = useState<number | null>(null);
  const lock = useLocks().setting('renewPrices');
  const canChange = useCanChange();
  const lastRead = useNow((now) => (checkedAt === null ? '' : formats.ago(checkedAt, now)));
  const command = useCommand();
  const change = async (chosen: string) => {
    const renewPrices = priceRenewalModes.find((each) => each === chosen);
    if (!renewPrices || !(await command.run({ type: 'settings.update', changes: { renewPrices } }))) return;
    if (renewPrices !== 'off') await check();
    else onChanged();
  };
  const check = async () => {
    setApplied(null);
    await command.run({ type: 'prices.check' });
    onChanged();
  };
  const apply = async (which: 'plausible' | 'all') => {
    const result = await command.run({ type: 'prices.apply', which });
    if (result) setApplied(result.applied);
    onChanged();
  };
  const plausible = waiting.filter(({ isImplausible }) => !isImplausible);
  const implausible = waiting.filter(({ isImplausible }) => isImplausible);
  const isIdle = canChange && !command.isRunning;
  return (
    <div className={classes.renewal}>
      <NativeSelect
        {...settingRow(names.mode)}
        description={names.modeHint(new URL(renewal.address).hostname)}
        value={mode}
        disabled={!isIdle || lock !== null}
        onChange={({ currentTarget }) => void change(currentTarget.value)}
        data={priceRenewalModes.map((each) => ({ value: each, label: names.modes[each] }))}
      />
      <LockMark lock={lock} />
      {mode !== 'off' && (
        <div className={classes.checked}>
          <p className={classes.note} role="status">
            {[
              checkedAt === null ? names.notRead : names.lastRead(lastRead),
              ...(applied === null ? [] : [names.applied(applied, formats.number(applied))]),
              ...(checkedAt !== null && waiting.length === 0 && applied === null ? [names.nothing] : []),
            ].join(formats.gap)}
          </p>
          <Button size="compact-sm" variant="default" disabled={!isIdle} onClick={() => void check()}>
            {names.check}
          </Button>
        </div>
      )}
      {failure !== null && <p className={classes.error}>{names.failed(failure)}</p>}
      {command.problem && <CommandProblem problem={command.problem} />}
      {plausible.length > 0 && (
        <Changes
          title={names.waiting(plausible.length, formats.number(plausible.length))}
          changes={plausible}
          act={names.apply}
          isIdle={isIdle}
          onApply={() => void apply('plausible')}
        />
      )}
      {implausible.length > 0 && (
        <Changes
          title={names.implausible(implausible.length, formats.number(implausible.length))}
          hint={names.implausibleHint}
          changes={implausible}
          act={plausible.length > 0 ? names.applyAll : names.apply}
          isIdle={isIdle}
          onApply={() => void apply('all')}
        />
      )}
    </div>
  );
}

/** More are shown only on request. */
const shortLength = 6;

interface ChangesProps {
  title: string;
  hint?: string;
  changes: readonly PriceChange[];
  act: string;
  isIdle: boolean;
  onApply(): void;
}

function Changes({ title, hint, changes, act, isIdle, onApply }: ChangesProps) {
  const localization = useLocalization();
  const { renewal: names } = localization.messages.prices;
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? changes : changes.slice(0, shortLength);
  const amounts = (price: PriceAmounts, others: PriceAmounts | null) => {
    const names = priceFieldNames.filter((name) => price[name] !== others?.[name]);
    const differing = Object.fromEntries(names.map((name) => [name, price[name]]));
    return describeAmounts(differing, localization).join(', ') || nothing;
  };
  return (
    <section className={classes.changes} aria-label={title}>
      <div className={classes.checked}>
        <strong>{title}</strong>
        <Button size="compact-sm" disabled={!isIdle} onClick={onApply}>
          {act}
        </Button>
      </div>
      {hint !== undefined && <p className={classes.note}>{hint}</p>}
      <ul className={classes.list}>
        {shown.map(({ entry, before, after }) => (
          <li key={entry} className={classes.change}>
            <span className={classes.model}>{entry}</span>
            <span className={classes.note}>
              {before === null ? names.none : amounts(before, after)} → {amounts(after, before)}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < changes.length && (
        <Button size="compact-sm" variant="default" className={classes.more} onClick={() => setShowsAll(true)}>
          {names.showAll(localization.formats.number(changes.length))}
        </Button>
      )}
    </section>
  );
}
