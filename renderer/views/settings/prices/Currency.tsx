import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Settings } from '../../../../server/contract/settings.ts';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { LockMark } from '../../../components/locks/Lockable.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useCanChange, useLocks } from '../../../state/rights/use-rights.ts';
import { settingRow } from '../fields/setting-row.tsx';
import classes from './Prices.module.css';

/** Those of which the European Central Bank has rates. */
const codes =
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR ISK JPY KRW MXN MYR NOK NZD PHP PLN RON SEK SGD THB TRY ZAR'.split(
    ' ',
  );

/** The currency in which amounts are shown, and its rate. Applied at once. */
export function Currency() {
  const { messages, language, formats } = useLocalization();
  const { currency: names } = messages.prices;
  const status = useControlState((state) => state.views?.status ?? null);
  const chosen = status?.settings.currency ?? null;
  const lock = useLocks().setting('currency');
  const canChange = useCanChange() && lock === null;
  const command = useCommand();
  const [typed, setTyped] = useState<string | null>(null);
  if (!status) return null;
  const set = async (currency: Settings['currency']) => {
    if (await command.run({ type: 'settings.update', changes: { currency } })) setTyped(null);
  };
  const namesOf = new Intl.DisplayNames(language, { type: 'currency' });
  const known = chosen && !codes.includes(chosen.code) ? [chosen.code, ...codes] : codes;
  const shown = status.currency;
  const rate = typed ?? String(chosen?.perDollar ?? '');
  const isWrong = !(Number(rate) > 0);
  return (
    <div className={classes.renewal}>
      <NativeSelect
        {...settingRow(names.label)}
        description={names.hint}
        value={chosen?.code ?? ''}
        disabled={!canChange}
        onChange={({ currentTarget: { value } }) => void set(value === '' ? null : { code: value, perDollar: null })}
        data={[
          { value: '', label: names.dollars },
          ...known.map((code) => ({ value: code, label: `${code} – ${namesOf.of(code) ?? code}` })),
        ]}
      />
      <LockMark lock={lock} />
      {chosen && (
        <NativeSelect
          {...settingRow(names.rate)}
          value={chosen.perDollar === null ? 'renewed' : 'fixed'}
          disabled={!canChange}
          onChange={({ currentTarget: { value } }) =>
            void set({ ...chosen, perDollar: value === 'renewed' ? null : (shown?.perDollar ?? 1) })
          }
          data={(['renewed', 'fixed'] as const).map((each) => ({ value: each, label: names.rates[each] }))}
        />
      )}
      {chosen && chosen.perDollar !== null && (
        <TextInput
          {...settingRow(names.perDollar(chosen.code))}
          inputMode="decimal"
          value={rate}
          disabled={!canChange}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onBlur={() => !isWrong && typed !== null && void set({ ...chosen, perDollar: Number(rate) })}
          onKeyDown={({ key }) => key === 'Enter' && !isWrong && void set({ ...chosen, perDollar: Number(rate) })}
          error={isWrong && names.wrongRate}
        />
      )}
      {shown && shown.perDollar === null && <p className={classes.note}>{names.unknown}</p>}
      {shown && shown.perDollar !== null && shown.date !== null && (
        <p className={classes.note}>
          {names.asOf(formats.rate(shown.code, shown.perDollar), formats.day(Date.parse(`${shown.date}T12:00`)))}
        </p>
      )}
      {shown?.failure && <p className={classes.error}>{names.failed(shown.failure)}</p>}
      {command.problem && <CommandProblem problem={command.problem} />}
    </div>
  );
}
